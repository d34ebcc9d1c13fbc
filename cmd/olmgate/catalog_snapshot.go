package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/olmgate/olmgate/catalog/snapshot"
	"github.com/olmgate/olmgate/catalog/source"
)

func newCatalogSnapshot(s streams) *cobra.Command {
	var flags catalogFlags
	var output string
	cmd := &cobra.Command{
		Use:   "snapshot -o FILE",
		Short: "Write all catalogs to a small file, to resolve without a cluster later",
		Long: strings.TrimSpace(`
Writes all catalogs of the cluster, or of files, to one small file: for each its labels, priority and availability, the
image that it is of, and an index of its content, or why there is none. --snapshot reads it, wherever catalogs are
given. With SOURCE_DATE_EPOCH as the time, equal catalogs make equal files.

Exit status: 0 written, 2 wrong usage, unreadable input or nothing to write, 3 written, but the content of some catalog
could not be had.`),
		Example: `  olmgate catalog snapshot -o catalogs.olmgate
  olmgate catalog snapshot --catalogs ./catalogs -o catalogs.olmgate
  olmgate resolve -f apps/ --snapshot catalogs.olmgate`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return writeSnapshot(cmd.Context(), s, &flags, output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write, which is replaced in one step; - for standard output")
	flags.add(cmd.Flags())
	return cmd
}

func writeSnapshot(ctx context.Context, s streams, flags *catalogFlags, output string) error {
	switch f, isFile := s.out.(*os.File); {
	case output == "":
		return errors.New("no file to write: name one by -o, or - for standard output")
	case output == "-" && isFile && term.IsTerminal(int(f.Fd())):
		return errors.New("a snapshot is not for terminals: name a file by -o, or redirect standard output")
	}
	made, err := timeOf(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	found, err := flags.gather(ctx, s)
	if err != nil {
		return err
	}
	shot := &snapshot.Snapshot{Created: made, CreatedBy: versionText()}
	with, without := 0, 0
	for i := range found {
		c := entryOf(&found[i])
		shot.Catalogs = append(shot.Catalogs, c)
		switch {
		case c.Index != nil:
			with++
		case !c.Unavailable && !c.Deleting:
			without++
			s.say("warning: catalog %s is in the snapshot without content: %s", c.Name, c.Problem)
		}
	}
	if with == 0 {
		return errors.New("there is no content of any catalog, so no snapshot was written")
	}
	if output == "-" {
		err = shot.Encode(s.out)
	} else {
		err = snapshot.WriteFile(output, shot)
	}
	if err != nil {
		return fmt.Errorf("writing the snapshot: %w", err)
	}
	if without > 0 {
		return status(exitUndecided)
	}
	return nil
}

// timeOf is the time that SOURCE_DATE_EPOCH asks for, in seconds since 1970; now when it is not set.
func timeOf(epoch string) (time.Time, error) {
	if epoch == "" {
		return time.Now(), nil
	}
	seconds, err := strconv.ParseUint(epoch, 10, 36)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, and must be a number of seconds since 1970", epoch)
	}
	return time.Unix(int64(seconds), 0), nil
}

func entryOf(g *gathered) snapshot.Catalog {
	c := &g.catalog
	ref, resolved := source.ImageOf(g.cc)
	return snapshot.Catalog{
		Name:        c.Name,
		Labels:      c.Labels,
		Priority:    c.Priority,
		Unavailable: c.Unavailable,
		Deleting:    c.Deleting,
		Serving:     c.Serving,
		Image:       ref,
		Resolved:    resolved,
		Index:       c.Content.Index,
		Outdated:    c.Content.Outdated,
		Problem:     c.Content.Problem,
	}
}
