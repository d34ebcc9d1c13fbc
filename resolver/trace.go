package resolver

import (
	"cmp"
	"fmt"
	"slices"
)

// trace says what became of each catalog.
func (f *field) trace(rule Rule, a answer) []TraceCatalog {
	list := make([]TraceCatalog, 0, len(f.all))
	for i := range f.all {
		c := &f.all[i]
		t := TraceCatalog{Name: c.Name, Priority: c.Priority, Considered: c.considered, Why: c.why, Contains: c.pkg != nil}
		if e := c.eval; e != nil {
			t.Bundles, t.InChannels, t.InVersionRange, t.Upgradable = e.usable, e.inChannels, e.inVersion, e.reachable
		}
		switch {
		case !c.considered:
		case !c.known():
			t.Why = "its content is not at hand: " + c.problem()
		case rule == RulePackage && a.decided != nil && c.Priority < *a.decided:
			t.Why = fmt.Sprintf("not looked at: priority %d decided", *a.decided)
		}
		t.Why = clean(t.Why)
		list = append(list, t)
	}
	return list
}

// untouched is the trace of an extension that could not be read: no catalog was looked at.
func untouched(catalogs []Catalog) []TraceCatalog {
	list := make([]TraceCatalog, 0, len(catalogs))
	for i := range catalogs {
		list = append(list, TraceCatalog{Name: catalogs[i].Name, Priority: catalogs[i].Priority, Why: "not looked at: the extension cannot be read"})
	}
	slices.SortFunc(list, func(a, b TraceCatalog) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Name, b.Name))
	})
	return list
}
