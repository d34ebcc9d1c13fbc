package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgate/olmgate/resolver"
)

// outdatedOptions are the flags of outdated.
type outdatedOptions struct {
	judgeFlags
	everything bool
}

func newOutdated(s streams) *cobra.Command {
	o := &outdatedOptions{judgeFlags: judgeFlags{all: true}}
	cmd := &cobra.Command{
		Use:   "outdated [NAME...] [-f FILE]",
		Short: "List the ClusterExtensions that are behind, and what holds them",
		Long: strings.TrimSpace(`
Lists the ClusterExtensions whose catalog has something newer than what is installed, with what is installed, what the
constraints admit, the newest there is, how many upgrades lead there, and the constraint that holds it back. It takes
all extensions of the cluster, or named ones, or those of files. It only reads, and needs no olmgate in the cluster.

Exit status: 0 nothing is behind, 1 something is, 2 wrong usage or unreadable input, 3 nothing can be said about some;
2 before 1 before 3.`),
		Example: `  olmgate outdated
  olmgate outdated argocd -o wide
  olmgate outdated --all -o json
  kubectl get clusterextensions -o yaml | olmgate outdated -f - --catalogs ./catalogs`,
		RunE: func(cmd *cobra.Command, names []string) error { return o.run(cmd.Context(), s, names) },
	}
	o.add(cmd, tableFormats...)
	cmd.Flags().BoolVar(&o.everything, "all", false, "list those that are up to date too, and those of which nothing can be said")
	return cmd
}

func (o *outdatedOptions) run(ctx context.Context, s streams, names []string) error {
	if err := o.checkTable(); err != nil {
		return err
	}
	list, catalogs, err := o.judgeAll(ctx, s, names, resolver.Outlook)
	if err != nil {
		return err
	}
	shown := list
	if !o.everything {
		shown = slices.DeleteFunc(slices.Clone(list), func(j judged) bool { return standingOf(&j) != behind })
	}
	print := func(s *screen, shown []judged, wide bool) { printOutdated(s, list, shown, wide) }
	if err := o.writeTable(s.out, shown, print); err != nil {
		return err
	}
	sayUnknown(s, list)
	sayMissing(s, list, catalogs)
	switch counts := countStandings(list); {
	case counts[behind] > 0:
		return status(exitFailed)
	case counts[unknown] > 0:
		return status(exitUndecided)
	}
	return nil
}

// standing is how an extension stands to what its catalog has.
type standing int

const (
	behind standing = iota
	unknown
	upToDate
	notInstalled
)

func standingOf(j *judged) standing {
	u := j.verdict.Update
	nothingNewer := u.Hops != nil && *u.Hops == 0
	switch {
	case u.Available == resolver.UpdateUnknown:
		return unknown
	case u.Reason == resolver.NotInstalled:
		return notInstalled
	case u.Available == resolver.UpdateAvailable && !nothingNewer:
		return behind
	}
	return upToDate // a downgrade too
}

func countStandings(list []judged) map[standing]int {
	counts := map[standing]int{}
	for i := range list {
		counts[standingOf(&list[i])]++
	}
	return counts
}

// sayUnknown says of which extensions nothing can be said, and why.
func sayUnknown(s streams, list []judged) {
	var why []string
	names := map[string][]string{}
	for i := range list {
		if j := &list[i]; standingOf(j) == unknown {
			text := j.verdict.Update.Message
			if names[text] == nil {
				why = append(why, text)
			}
			names[text] = append(names[text], oneLine(nameColumn.cell(j)))
		}
	}
	for _, text := range why {
		s.say("%s: %s", strings.Join(names[text], ", "), text)
	}
}

var (
	outdatedColumns = []column{nameColumn, packageColumn, installedColumn, bundleColumn("RESOLVABLE"), newestColumn, hopsColumn, heldByColumn}
	// outdatedWide are added by -o wide.
	outdatedWide = []column{updateColumn, catalogColumn, priorityColumn, channelsColumn, versionColumn, deprecatedColumn, reasonColumn}
)

// printOutdated writes the table of outdated, or that nothing is behind in the whole list.
func printOutdated(s *screen, list, shown []judged, wide bool) {
	if len(list) == 0 {
		return
	}
	if counts := countStandings(list); counts[behind] == 0 {
		s.line("nothing is behind: ", notBehind(counts))
	}
	if len(shown) == 0 {
		return
	}
	columns := outdatedColumns
	if wide {
		columns = withPlaces(slices.Concat(outdatedColumns, outdatedWide), shown)
	}
	s.rows(columns, behindFirst(shown), standingColour)
}

// notBehind counts the extensions that are not behind.
func notBehind(counts map[standing]int) string {
	var parts []string
	for _, p := range []struct {
		is  standing
		say string
	}{{upToDate, "%d up to date"}, {notInstalled, "%d not installed"}, {unknown, "%d of which nothing can be said"}} {
		if n := counts[p.is]; n > 0 {
			parts = append(parts, fmt.Sprintf(p.say, n))
		}
	}
	return strings.Join(parts, ", ")
}

// behindFirst orders by standing, then by name.
func behindFirst(list []judged) []judged {
	return slices.SortedStableFunc(slices.Values(list), func(a, b judged) int {
		return cmp.Or(cmp.Compare(standingOf(&a), standingOf(&b)), cmp.Compare(a.verdict.Extension, b.verdict.Extension))
	})
}

// standingColour is red where nothing is updated until somebody changes something, yellow where a constraint holds it.
func standingColour(j *judged) string {
	switch {
	case standingOf(j) == behind && j.verdict.Outcome == resolver.OutcomeFailed:
		return red
	case standingOf(j) == behind && j.verdict.Update.Reason == resolver.HeldBack, standingOf(j) == unknown:
		return yellow
	}
	return ""
}
