package main

import (
	"cmp"
	"slices"

	"github.com/olmgate/olmgate/resolver"
)

var (
	statusColumns = []column{nameColumn, packageColumn, installedColumn, bundleColumn("RESOLVES-TO"), catalogColumn, updateColumn, reasonColumn}
	// statusWide are added by -o wide.
	statusWide = []column{priorityColumn, newestColumn, hopsColumn, heldByColumn, channelsColumn, versionColumn, deprecatedColumn}
)

// printStatus writes the table of status, the bad rows first, and what to do about them.
func printStatus(s *screen, list []judged, wide bool) {
	if len(list) == 0 {
		return
	}
	columns := statusColumns
	if wide {
		columns = withPlaces(slices.Concat(statusColumns, statusWide), list)
	}
	list = badFirst(list)
	s.rows(columns, list, outcomeColour)
	bad := outcomeOrder(&list[0]) < resolvedLast
	if bad || len(list) > 1 {
		s.line()
	}
	if len(list) > 1 {
		s.line(tally(verdictsOf(list)))
	}
	if bad {
		s.line("olmgate resolve says why, and what to change")
	}
}

// rows writes a table with a row per extension.
func (s *screen) rows(columns []column, list []judged, colour func(*judged) string) {
	var g grid
	g.fit(headings(columns))
	for i := range list {
		g.fit(cells(columns, &list[i]))
	}
	s.write(s.paint(dim, g.line(headings(columns))) + "\n")
	for i := range list {
		s.write(s.paint(colour(&list[i]), g.line(cells(columns, &list[i]))) + "\n")
	}
}

const resolvedLast = 2

func outcomeOrder(j *judged) int {
	switch j.verdict.Outcome {
	case resolver.OutcomeFailed:
		return 0
	case resolver.OutcomeUndecided:
		return 1
	}
	return resolvedLast
}

// badFirst orders failed extensions before undecided before resolved ones, each by name.
func badFirst(list []judged) []judged {
	return slices.SortedStableFunc(slices.Values(list), func(a, b judged) int {
		return cmp.Or(cmp.Compare(outcomeOrder(&a), outcomeOrder(&b)), cmp.Compare(a.verdict.Extension, b.verdict.Extension))
	})
}

func outcomeColour(j *judged) string {
	return []string{red, yellow, ""}[outcomeOrder(j)]
}
