package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/diff"
	"github.com/olmgate/olmgate/catalog/snapshot"
	"github.com/olmgate/olmgate/catalog/source"
	"github.com/olmgate/olmgate/catalog/source/image"
)

// diffOptions are the flags of catalog diff.
type diffOptions struct {
	images  imageFlags
	pkg     string
	catalog string
	output  string
}

// diffReport is what -o json and yaml print. Fields are only ever added.
type diffReport struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Old        string        `json:"old"`
	New        string        `json:"new"`
	Catalogs   []catalogDiff `json:"catalogs"`
	Summary    diffSummary   `json:"summary"`
}

type diffSummary struct {
	Catalogs diff.Count `json:"catalogs"`
	diff.Summary
}

// catalogDiff is what became of one catalog.
type catalogDiff struct {
	// Name is "" when neither side is a snapshot.
	Name   string      `json:"name"`
	Change diff.Change `json:"change"`
	// Fields are what else is known of the catalog and changed, by name: priority, labels, availabilityMode, image.
	Fields   []fieldDiff    `json:"fields"`
	Packages []diff.Package `json:"packages"`
}

type fieldDiff struct {
	Field string `json:"field"`
	diff.Values
}

func newCatalogDiff(s streams) *cobra.Command {
	o := &diffOptions{}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say what came, went and changed between two catalogs",
		Long: strings.TrimSpace(`
Says which packages, channels, bundles and deprecations came, went, or are another under the same name. OLD and NEW are
each a file or directory with a File-Based Catalog, an image as oci://REF, or a snapshot. Of two snapshots, catalogs of
the same name are compared; --catalog picks one. What plays no part in resolution, such as descriptions, does not count.

Exit status, as that of diff: 0 no difference, 1 differences, 2 wrong usage or something that cannot be read.`),
		Example: `  olmgate catalog diff old.jsonl new.jsonl
  olmgate catalog diff monday.olmgate friday.olmgate --package argocd-operator
  olmgate catalog diff oci://example.com/catalogs/hub:v1 oci://example.com/catalogs/hub:v2 -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("%s takes two catalogs, not %d: %s", cmd.CommandPath(), len(args), cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0], args[1]) },
	}
	cmd.Flags().StringVar(&o.pkg, "package", "", "compare the package `NAME` only")
	cmd.Flags().StringVar(&o.catalog, "catalog", "", "compare the catalog `NAME` of snapshots only")
	addFormats(cmd, &o.output)
	o.images.add(cmd.Flags())
	return cmd
}

func (o *diffOptions) run(ctx context.Context, s streams, before, after string) error {
	write, ok := map[string]func(io.Writer, diffReport) error{
		"text": diffText, "json": writeJSON[diffReport], "yaml": writeYAML[diffReport],
	}[o.output]
	if !ok {
		return unknownFormat(o.output, textFormats)
	}
	images, err := o.images.source()
	if err != nil {
		return err
	}
	a, err := o.side(ctx, before, images)
	if err != nil {
		return err
	}
	b, err := o.side(ctx, after, images)
	if err != nil {
		return err
	}
	if err := pairSides(&a, &b); err != nil {
		return err
	}
	report := diffReport{APIVersion: reportVersion, Kind: "CatalogDiff", Old: before, New: after, Catalogs: []catalogDiff{}}
	if report.Catalogs, err = o.compare(a, b); err != nil {
		return err
	}
	for i := range report.Catalogs {
		report.Summary.Catalogs.Add(report.Catalogs[i].Change)
		report.Summary.Add(report.Catalogs[i].Packages)
	}
	if err := write(s.out, report); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if len(report.Catalogs) > 0 {
		return status(exitFailed)
	}
	return nil
}

// side is what one argument holds.
type side struct {
	text     string
	snapshot bool
	catalogs []snapshot.Catalog
}

// side reads an argument.
func (o *diffOptions) side(ctx context.Context, text string, images *image.Source) (side, error) {
	x := side{text: text}
	if ref, isImage := strings.CutPrefix(text, source.ImageScheme); isImage {
		content, err := images.Load(ctx, ref)
		if err != nil {
			return x, err
		}
		x.catalogs = []snapshot.Catalog{{Index: content.Index}}
		return x, nil
	}
	if !snapshot.IsFile(text) {
		index, err := source.LoadPath(text, catalog.Limits{})
		if err != nil {
			return x, err
		}
		x.catalogs = []snapshot.Catalog{{Index: index}}
		return x, nil
	}
	shot, err := snapshot.ReadFile(text, catalog.Limits{})
	if err != nil {
		return x, err
	}
	x.snapshot, x.catalogs = true, shot.Catalogs
	if o.catalog == "" {
		return x, nil
	}
	i := slices.IndexFunc(x.catalogs, func(c snapshot.Catalog) bool { return c.Name == o.catalog })
	if i < 0 {
		return x, fmt.Errorf("%s has no catalog %q: it has %s", text, o.catalog, x.names())
	}
	x.catalogs = x.catalogs[i : i+1]
	return x, nil
}

func (x *side) names() string {
	var names []string
	for i := range x.catalogs {
		names = append(names, x.catalogs[i].Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// pairSides gives a side that is no snapshot the name of the one catalog of the other side.
func pairSides(a, b *side) error {
	if b.snapshot && !a.snapshot {
		a, b = b, a
	}
	if a.snapshot == b.snapshot {
		return nil
	}
	if len(a.catalogs) != 1 {
		return fmt.Errorf("%s has %d catalogs, and %s is one: say by --catalog NAME which to compare: %s", a.text, len(a.catalogs), b.text, a.names())
	}
	// What else is known of it is known on one side only.
	index := b.catalogs[0].Index
	b.catalogs[0] = a.catalogs[0]
	b.catalogs[0].Index = index
	return nil
}

// compare pairs the catalogs of both sides by name, which both have in order.
func (o *diffOptions) compare(a, b side) ([]catalogDiff, error) {
	all := []catalogDiff{}
	i, j := 0, 0
	for i < len(a.catalogs) || j < len(b.catalogs) {
		var before, after *snapshot.Catalog
		order := 0
		switch {
		case i == len(a.catalogs):
			order = 1
		case j == len(b.catalogs):
			order = -1
		default:
			order = strings.Compare(a.catalogs[i].Name, b.catalogs[j].Name)
		}
		if order <= 0 {
			before = &a.catalogs[i]
			i++
		}
		if order >= 0 {
			after = &b.catalogs[j]
			j++
		}
		d, err := o.compareCatalogs(before, after)
		if err != nil {
			return nil, err
		}
		if d.Change != diff.Changed || len(d.Fields)+len(d.Packages) > 0 {
			all = append(all, d)
		}
	}
	return all, nil
}

var emptyIndex = &catalog.Index{}

func (o *diffOptions) compareCatalogs(before, after *snapshot.Catalog) (catalogDiff, error) {
	d := catalogDiff{Change: diff.Changed, Fields: []fieldDiff{}}
	switch {
	case before == nil:
		d.Name, d.Change = after.Name, diff.Added
		before = &snapshot.Catalog{Index: emptyIndex}
	case after == nil:
		d.Name, d.Change = before.Name, diff.Removed
		after = &snapshot.Catalog{Index: emptyIndex}
	default:
		d.Name, d.Fields = after.Name, fieldsOf(before, after)
	}
	if d.Change == diff.Changed && (before.Index == nil) != (after.Index == nil) {
		which, why := "old", before.Problem
		if before.Index != nil {
			which, why = "new", after.Problem
		}
		return d, fmt.Errorf("catalog %s cannot be compared, since the %s snapshot has no content of it: %s", d.Name, which, why)
	}
	if before.Index != nil && after.Index != nil {
		d.Packages = diff.Indexes(before.Index, after.Index)
	}
	if o.pkg != "" {
		d.Fields = []fieldDiff{}
		d.Packages = slices.DeleteFunc(d.Packages, func(p diff.Package) bool { return p.Name != o.pkg })
		if len(d.Packages) == 0 {
			d.Change = diff.Changed // of no interest then
		}
	}
	if d.Packages == nil {
		d.Packages = []diff.Package{}
	}
	return d, nil
}

// fieldsOf compares what is known of a catalog beside its content.
func fieldsOf(before, after *snapshot.Catalog) []fieldDiff {
	list := []fieldDiff{}
	for _, f := range []struct {
		name string
		of   func(*snapshot.Catalog) string
	}{
		{"availabilityMode", func(c *snapshot.Catalog) string {
			if c.Unavailable {
				return "Unavailable"
			}
			return "Available"
		}},
		{"image", func(c *snapshot.Catalog) string { return c.Image }},
		{"labels", func(c *snapshot.Catalog) string { return labels(c.Labels) }},
		{"priority", func(c *snapshot.Catalog) string { return strconv.Itoa(int(c.Priority)) }},
	} {
		if a, b := f.of(before), f.of(after); a != b {
			list = append(list, fieldDiff{f.name, diff.Values{Old: a, New: b}})
		}
	}
	return list
}
