package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/snapshot"
)

// reportVersion is the apiVersion of what is printed for programs.
const reportVersion = "olmgate.dev/v1alpha1"

// snapshotReport is what -o json and yaml print of a snapshot. Fields are only ever added.
type snapshotReport struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	File       string            `json:"file"`
	Format     int               `json:"format"`
	Bytes      int64             `json:"bytes"`
	Created    time.Time         `json:"created"`
	CreatedBy  string            `json:"createdBy"`
	Catalogs   []snapshotCatalog `json:"catalogs"`
}

// snapshotCatalog is a catalog of a snapshotReport; the counts are 0 without content.
type snapshotCatalog struct {
	Name             string            `json:"name"`
	Labels           map[string]string `json:"labels"`
	Priority         int32             `json:"priority"`
	AvailabilityMode string            `json:"availabilityMode"`
	Serving          bool              `json:"serving"`
	Deleting         bool              `json:"deleting"`
	Image            string            `json:"image"`
	Resolved         string            `json:"resolved"`
	HasContent       bool              `json:"hasContent"`
	Outdated         bool              `json:"outdated"`
	Problem          string            `json:"problem"`
	// Bytes is the size of the content in the snapshot, FBCBytes that of the File-Based Catalog it was made of.
	Bytes    int64 `json:"bytes"`
	FBCBytes int64 `json:"fbcBytes"`
	Packages int   `json:"packages"`
	Channels int   `json:"channels"`
	Bundles  int   `json:"bundles"`
}

func newCatalogInspect(s streams) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Say what is in a snapshot",
		Args:  one("file"),
		RunE: func(_ *cobra.Command, args []string) error {
			write, ok := map[string]func(io.Writer, snapshotReport) error{
				"text": reportText, "json": writeJSON[snapshotReport], "yaml": writeYAML[snapshotReport],
			}[output]
			if !ok {
				return unknownFormat(output, textFormats)
			}
			info, err := os.Stat(args[0])
			if err != nil {
				return unreadable(args[0], err)
			}
			shot, err := snapshot.ReadFile(args[0], catalog.Limits{})
			if err != nil {
				return err
			}
			return write(s.out, reportOf(args[0], info.Size(), shot))
		},
	}
	addFormats(cmd, &output)
	return cmd
}

// textFormats are the formats of answers for people and programs.
var textFormats = []string{"text", "json", "yaml"}

func addFormats(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", textFormats[0], "output `FORMAT`: "+either(textFormats))
	if err := cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(textFormats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // cannot be: the flag was just added
	}
}

func writeJSON[T any](w io.Writer, v T) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func writeYAML[T any](w io.Writer, v T) error {
	raw, err := yaml.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(raw)
	return err
}

func reportOf(file string, size int64, shot *snapshot.Snapshot) snapshotReport {
	r := snapshotReport{
		APIVersion: reportVersion, Kind: "CatalogSnapshot",
		File: file, Format: snapshot.Version, Bytes: size, Created: shot.Created, CreatedBy: shot.CreatedBy,
		Catalogs: make([]snapshotCatalog, len(shot.Catalogs)),
	}
	for i := range shot.Catalogs {
		c := &shot.Catalogs[i]
		e := &r.Catalogs[i]
		*e = snapshotCatalog{
			Name: c.Name, Labels: c.Labels, Priority: c.Priority, AvailabilityMode: "Available", Serving: c.Serving, Deleting: c.Deleting,
			Image: c.Image, Resolved: c.Resolved, HasContent: c.Index != nil, Outdated: c.Outdated, Problem: c.Problem, Bytes: c.Bytes,
		}
		if c.Unavailable {
			e.AvailabilityMode = "Unavailable"
		}
		if e.Labels == nil {
			e.Labels = map[string]string{}
		}
		if c.Index != nil {
			st := c.Index.Stats()
			e.FBCBytes, e.Packages, e.Channels, e.Bundles = st.Bytes, st.Packages, st.Channels, st.Bundles
		}
	}
	return r
}

func reportText(w io.Writer, r snapshotReport) error {
	screen := newScreen(w)
	screen.line(screen.paint(bold, oneLine(r.File)), oneLine(fmt.Sprintf("  %s, made %s by olmgate %s", bytesText(r.Bytes), r.Created.Format(time.RFC3339), r.CreatedBy)))
	rows := [][]string{{"NAME", "PRIORITY", "PACKAGES", "BUNDLES", "FBC", "SIZE", "STATE", "IMAGE"}}
	for i := range r.Catalogs {
		c := &r.Catalogs[i]
		row := []string{c.Name, strconv.Itoa(int(c.Priority)), "", "", "", ""}
		if c.HasContent {
			row = append(row[:2], strconv.Itoa(c.Packages), strconv.Itoa(c.Bundles), bytesText(c.FBCBytes), bytesText(c.Bytes))
		}
		image := c.Image
		if c.Resolved != "" {
			image = c.Resolved
		}
		rows = append(rows, append(row, c.state(), image))
	}
	screen.table(2, rows)
	return screen.err
}

// state says how the catalog stood.
func (c *snapshotCatalog) state() string {
	var list []string
	for _, s := range []struct {
		is   bool
		text string
	}{
		{c.Deleting, "being deleted"}, {c.AvailabilityMode == "Unavailable", "unavailable"}, {!c.Serving, "not serving"},
		{c.Outdated, "outdated: " + c.Problem}, {!c.HasContent, "no content: " + c.Problem},
	} {
		if s.is {
			list = append(list, s.text)
		}
	}
	if len(list) == 0 {
		return "ok"
	}
	return strings.Join(list, "; ")
}

// bytesText is a size for people.
func bytesText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
