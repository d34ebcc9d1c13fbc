package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/olmgate/olmgate/resolver"
)

// printText writes verdicts for people.
func printText(w io.Writer, verdicts []resolver.Verdict, explain bool) error {
	s := newScreen(w)
	buffered := bufio.NewWriter(w)
	s.w = buffered
	for i := range verdicts {
		s.verdict(&verdicts[i], explain)
	}
	if len(verdicts) > 1 {
		s.line()
		s.line(tally(verdicts))
	}
	if s.err != nil {
		return s.err
	}
	return buffered.Flush()
}

// tally counts the outcomes.
func tally(verdicts []resolver.Verdict) string {
	counts := map[resolver.Outcome]int{}
	for i := range verdicts {
		counts[verdicts[i].Outcome]++
	}
	return fmt.Sprintf("%d extensions: %d resolved, %d failed, %d undecided", len(verdicts),
		counts[resolver.OutcomeResolved], counts[resolver.OutcomeFailed], counts[resolver.OutcomeUndecided])
}

// verdict writes one verdict: what, from where, and what to do about it.
func (s *screen) verdict(v *resolver.Verdict, explain bool) {
	name := s.paint(bold, oneLine(v.Extension))
	if v.Extension == "" {
		name = s.paint(dim, "(no name)")
	}
	if v.Location != nil {
		name += s.paint(dim, oneLine(fmt.Sprintf("  %s:%d", v.Location.File, v.Location.Line)))
	}
	switch v.Outcome {
	case resolver.OutcomeResolved:
		s.line(s.paint(green, "resolved  "), name)
	case resolver.OutcomeFailed:
		s.line(s.paint(red, "failed    "), name, "  ", s.paint(red, string(v.Reason)))
	default:
		s.line(s.paint(yellow, "undecided "), name, "  ", s.paint(yellow, string(v.Reason)))
	}
	s.para(10, "", "", v.Message)
	if v.Field != "" {
		s.para(10, "field: ", dim, v.Field)
	}
	for _, fix := range v.Suggestions {
		s.para(10, "fix: ", green, fix.Message)
	}
	for _, n := range v.Notes {
		s.para(10, string(n.Reason)+": ", yellow, n.Message)
	}
	for _, d := range v.Deprecations {
		if d.Scope == resolver.ScopeInstalledBundle {
			s.para(10, "installed bundle deprecated: ", yellow, d.Name+": "+d.Message)
		}
	}
	if explain {
		s.trace(v)
	}
}

// trace writes what became of each catalog.
func (s *screen) trace(v *resolver.Verdict) {
	if len(v.Trace.Catalogs) == 0 {
		return
	}
	s.para(10, "rule: ", dim, string(v.Trace.Rule))
	rows := [][]string{{"CATALOG", "PRIORITY", "CONSIDERED", "CONTAINS", "BUNDLES", "IN CHANNELS", "IN RANGE", "UPGRADABLE", "WHY"}}
	for _, c := range v.Trace.Catalogs {
		row := []string{c.Name, strconv.Itoa(int(c.Priority)), yes(c.Considered), yes(c.Contains)}
		for _, n := range []int{c.Bundles, c.InChannels, c.InVersionRange, c.Upgradable} {
			cell := ""
			if c.Considered && c.Contains {
				cell = strconv.Itoa(n)
			}
			row = append(row, cell)
		}
		rows = append(rows, append(row, c.Why))
	}
	s.table(10, rows)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
