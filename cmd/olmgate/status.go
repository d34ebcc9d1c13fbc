package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgate/olmgate/resolver"
)

// statusOptions are the flags of status.
type statusOptions struct {
	judgeFlags
	watch bool
}

// tableFormats are the output formats of the verbs that print a table.
var tableFormats = []string{"text", "wide", "json", "yaml"}

func newStatus(s streams) *cobra.Command {
	o := &statusOptions{judgeFlags: judgeFlags{all: true}}
	cmd := &cobra.Command{
		Use:   "status [NAME...] [-f FILE]",
		Short: "Show how it stands with ClusterExtensions, the bad ones first",
		Long: strings.TrimSpace(`
Shows what is installed of ClusterExtensions, what they resolve to, and whether there is an update: all of the cluster,
or named ones, or those of files. Failed ones come first, then undecided ones. It only reads, and needs no olmgate in
the cluster.

With --watch it goes on and prints a line whenever the answer about an extension changes, until it is interrupted.

Exit status: 0 all resolved, 1 some failed, 2 wrong usage or unreadable input, 3 some undecided; 2 before 1 before 3.
With --watch: 0 when it was interrupted.`),
		Example: `  olmgate status
  olmgate status argocd -o wide
  olmgate status --watch -o json
  kubectl get clusterextensions -o yaml | olmgate status -f - --catalogs ./catalogs`,
		RunE: func(cmd *cobra.Command, names []string) error { return o.run(cmd.Context(), s, names) },
	}
	o.add(cmd, tableFormats...)
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "go on and print what changes")
	return cmd
}

func (o *statusOptions) run(ctx context.Context, s streams, names []string) error {
	if err := o.checkTable(); err != nil {
		return err
	}
	if o.watch {
		if len(o.files) > 0 || o.catalogs.offline() {
			return errors.New("--watch follows the extensions and catalogs of a cluster, and files stay as they are: leave out either it or the files")
		}
		return o.follow(ctx, s, names)
	}
	list, catalogs, err := o.judgeAll(ctx, s, names, resolver.Outlook)
	if err != nil {
		return err
	}
	if err := o.writeTable(s.out, list, printStatus); err != nil {
		return err
	}
	sayMissing(s, list, catalogs)
	return exitOf(verdictsOf(list))
}

// checkTable refuses flags before anything is read.
func (f *judgeFlags) checkTable() error {
	if _, err := resolver.ParseRule(f.rule); err != nil {
		return err
	}
	if !slices.Contains(tableFormats, f.output) {
		return unknownFormat(f.output, tableFormats)
	}
	return f.catalogs.check()
}

// writeTable writes a table by print, or verdicts for programs.
func (f *judgeFlags) writeTable(w io.Writer, list []judged, print func(s *screen, list []judged, wide bool)) error {
	var err error
	switch f.output {
	case "json":
		err = printJSON(w, verdictsOf(list))
	case "yaml":
		err = printYAML(w, verdictsOf(list))
	default:
		screen := newScreen(w)
		print(screen, list, f.output == "wide")
		err = screen.err
	}
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

// sayMissing says which catalogs leave extensions undecided.
func sayMissing(s streams, list []judged, catalogs []resolver.Catalog) {
	if !slices.ContainsFunc(list, func(j judged) bool { return j.verdict.Outcome == resolver.OutcomeUndecided }) {
		return
	}
	for i := range catalogs {
		if text := missing(&catalogs[i]); text != "" {
			s.say("%s", text)
		}
	}
}

// missing says why the content of a catalog that should be there is not at hand, "" when it is.
func missing(c *resolver.Catalog) string {
	if c.Content.Index != nil || c.Unavailable || c.Deleting {
		return ""
	}
	return fmt.Sprintf("the content of catalog %s is not at hand: %s", oneLine(c.Name), c.Content.Problem)
}
