package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog/source"
	"github.com/olmgate/olmgate/check/report"
	"github.com/olmgate/olmgate/resolver"
)

// plan compares what extensions resolve to on two sides.
func plan(name string, before, after *side, rule resolver.Rule) *report.Plan {
	p := &report.Plan{Base: name, Changes: []report.Change{}, Catalogs: catalogChanges(before.manifest, after.manifest)}
	for _, pair := range pairs(before.judged, after.judged) {
		c, differs := change(pair[0], pair[1])
		if !differs {
			p.Summary.Unchanged++
			continue
		}
		c.Hops = hops(pair[1], c, after.catalogs, rule)
		switch c.Mark {
		case report.Added:
			p.Summary.Added++
		case report.Changed:
			p.Summary.Changed++
		case report.Removed:
			p.Summary.Removed++
		case report.Broken:
			p.Summary.Broken++
		}
		p.Changes = append(p.Changes, c)
	}
	order := "!~+-"
	slices.SortStableFunc(p.Changes, func(a, b report.Change) int {
		return cmp.Or(strings.Index(order, string(a.Mark))-strings.Index(order, string(b.Mark)), strings.Compare(a.Extension, b.Extension))
	})
	return p
}

// pairs brings the extensions of two sides together: those of one name in one file, then those of one name.
func pairs(before, after []*judged) [][2]*judged {
	var list [][2]*judged
	left := map[string][]*judged{}
	for _, d := range before {
		if d.isExtension() {
			left[d.name] = append(left[d.name], d)
		}
	}
	take := func(name string, fits func(*judged) bool) *judged {
		for i, d := range left[name] {
			if fits(d) {
				left[name] = slices.Delete(left[name], i, i+1)
				return d
			}
		}
		return nil
	}
	var rest []*judged
	for _, d := range after {
		if !d.isExtension() {
			continue
		}
		if b := take(d.name, func(b *judged) bool { return b.file == d.file }); b != nil {
			list = append(list, [2]*judged{b, d})
		} else {
			rest = append(rest, d)
		}
	}
	for _, d := range rest {
		list = append(list, [2]*judged{take(d.name, func(*judged) bool { return true }), d})
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		for _, b := range left[name] {
			list = append(list, [2]*judged{b, nil})
		}
	}
	return list
}

// isExtension reports whether an object is one that a plan speaks of.
func (d *judged) isExtension() bool { return d.kind == kindExtension || d.kind == "Operator" }

// side is what an extension resolves to, nil for one that is not there.
func (d *judged) side() *report.Side {
	switch {
	case d == nil:
		return nil
	case d.verdict == nil:
		s := &report.Side{Outcome: resolver.OutcomeFailed, Message: "it cannot be judged"}
		if len(d.findings) > 0 {
			s.Reason, s.Message = resolver.Reason(d.findings[0].Rule), d.findings[0].Message
		}
		return s
	}
	v := d.verdict
	return &report.Side{Outcome: v.Outcome, Reason: v.Reason, Message: v.Message, Catalog: v.Catalog, Bundle: v.Bundle}
}

// change is the line of a plan; false when there is none.
func change(before, after *judged) (report.Change, bool) {
	c := report.Change{Before: before.side(), After: after.side(), Notes: []resolver.Note{}}
	d := cmp.Or(after, before)
	c.Extension = d.name
	if d.verdict != nil {
		c.Package = d.verdict.Package
	}
	c.Touched = before == nil || after == nil || before.digest != after.digest
	if after != nil {
		if place := after.where(""); place.File != "" {
			c.Location = &place
		}
		c.Notes = newNotes(before, after)
	}
	switch {
	case after == nil:
		c.Mark = report.Removed
	case c.After.Outcome == resolver.OutcomeFailed && (before == nil || c.Before.Outcome != resolver.OutcomeFailed):
		c.Mark = report.Broken
	case before == nil:
		c.Mark = report.Added
	default:
		c.Mark = report.Changed
		return c, !same(c.Before, c.After)
	}
	return c, true
}

// same reports whether two sides resolve alike.
func same(a, b *report.Side) bool {
	if a.Outcome != b.Outcome || a.Reason != b.Reason || a.Catalog != b.Catalog || (a.Bundle == nil) != (b.Bundle == nil) {
		return false
	}
	return a.Bundle == nil || *a.Bundle == *b.Bundle
}

// newNotes are those that the verdict before does not have.
func newNotes(before, after *judged) []resolver.Note {
	list := []resolver.Note{}
	if after.verdict == nil {
		return list
	}
	had := map[resolver.Reason]bool{}
	if before != nil && before.verdict != nil {
		for _, n := range before.verdict.Notes {
			had[n.Reason] = true
		}
	}
	for _, n := range after.verdict.Notes {
		if !had[n.Reason] {
			list = append(list, n)
		}
	}
	return list
}

// hops is how many upgrades lead from the bundle before to that after, nil when no chain does or there is no such pair.
func hops(d *judged, c report.Change, catalogs []resolver.Catalog, rule resolver.Rule) *int {
	if c.Before == nil || c.After == nil || c.Before.Bundle == nil || c.After.Bundle == nil || d.ext == nil {
		return nil
	}
	none := 0
	if c.Before.Bundle.Name == c.After.Bundle.Name && c.Before.Bundle.Version == c.After.Bundle.Version && c.Before.Bundle.Release == c.After.Bundle.Release {
		return &none
	}
	from := d.ext.DeepCopy()
	from.Status = *statusOf(c.Before.Bundle)
	for _, g := range resolver.Graphs(from, catalogs, rule) {
		if g.Catalog == c.After.Catalog {
			return distance(&g, c.Before.Bundle.Name, c.After.Bundle.Name)
		}
	}
	return nil
}

// distance counts the upgrades between two bundles of a graph, by edges that count.
func distance(g *resolver.Graph, from, to string) *int {
	next := map[int][]int{}
	for _, e := range g.Edges {
		if e.Counts {
			next[e.From] = append(next[e.From], e.To)
		}
	}
	at := map[int]int{}
	var frontier []int
	for i := range g.Bundles {
		if g.Bundles[i].Name == from {
			at[i] = 0
			frontier = append(frontier, i)
		}
	}
	for len(frontier) > 0 {
		var more []int
		for _, i := range frontier {
			if g.Bundles[i].Name == to {
				n := at[i]
				return &n
			}
			for _, j := range next[i] {
				if _, seen := at[j]; !seen {
					at[j] = at[i] + 1
					more = append(more, j)
				}
			}
		}
		frontier = more
	}
	return nil
}

// catalogChanges compares the ClusterCatalogs of two sides.
func catalogChanges(before, after []*ocv1.ClusterCatalog) []report.CatalogChange {
	list := []report.CatalogChange{}
	was := map[string]*ocv1.ClusterCatalog{}
	for _, cc := range before {
		was[cc.Name] = cc
	}
	for _, cc := range after {
		old, there := was[cc.Name]
		delete(was, cc.Name)
		if !there {
			list = append(list, report.CatalogChange{Mark: report.Added, Name: cc.Name, What: []string{}})
		} else if what := differences(old, cc); len(what) > 0 {
			list = append(list, report.CatalogChange{Mark: report.Changed, Name: cc.Name, What: what})
		}
	}
	for name := range was {
		list = append(list, report.CatalogChange{Mark: report.Removed, Name: name, What: []string{}})
	}
	slices.SortFunc(list, func(a, b report.CatalogChange) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func differences(a, b *ocv1.ClusterCatalog) []string {
	what := []string{}
	say := func(name string, from, to any) {
		if from != to {
			what = append(what, fmt.Sprintf("%s %v -> %v", name, from, to))
		}
	}
	mode := func(cc *ocv1.ClusterCatalog) ocv1.AvailabilityMode {
		return cmp.Or(cc.Spec.AvailabilityMode, ocv1.AvailabilityModeAvailable)
	}
	say("priority", a.Spec.Priority, b.Spec.Priority)
	say("availabilityMode", mode(a), mode(b))
	imageA, _ := source.ImageOf(a)
	imageB, _ := source.ImageOf(b)
	say("image", imageA, imageB)
	if !maps.Equal(a.Labels, b.Labels) {
		say("labels", labels(a.Labels), labels(b.Labels))
	}
	return what
}

func labels(m map[string]string) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, k+"="+m[k])
	}
	return "{" + strings.Join(list, ", ") + "}"
}
