package resolver_test

import (
	"testing"

	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/resolver/casetest"
)

// TestGraphsAgreeWithVerdicts draws every case.
func TestGraphsAgreeWithVerdicts(t *testing.T) {
	cases, err := casetest.Load("testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	states := map[resolver.GraphState]bool{}
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			inputs, err := c.Inputs()
			if err != nil {
				t.Fatal(err)
			}
			v := resolver.Resolve(c.ClusterExtension(), inputs, c.Rule)
			graphs := resolver.Graphs(c.ClusterExtension(), inputs, c.Rule)
			if v.Catalog != "" && v.Outcome != resolver.OutcomeUndecided && (len(graphs) != 1 || graphs[0].Catalog != v.Catalog) {
				t.Errorf("%d graphs, the verdict selects %s", len(graphs), v.Catalog)
			}
			if v.Reason == resolver.AmbiguousCatalogs && len(graphs) != len(v.Ambiguous) {
				t.Errorf("%d graphs of %d tied catalogs", len(graphs), len(v.Ambiguous))
			}
			for _, g := range graphs {
				for _, b := range g.Bundles {
					states[b.State] = true
				}
				checkGraph(t, g, v)
			}
		})
	}
	for _, s := range []resolver.GraphState{resolver.GraphInstalled, resolver.GraphChosen, resolver.GraphQualifies, resolver.GraphReachable, resolver.GraphBlocked, resolver.GraphUnusable} {
		if !states[s] {
			t.Errorf("no case has a bundle that is %s", s)
		}
	}
}

func checkGraph(t *testing.T, g resolver.Graph, v resolver.Verdict) {
	chosen := 0
	for i, b := range g.Bundles {
		if b.State == resolver.GraphChosen {
			chosen++
			if v.Bundle == nil || *v.Bundle != b.Bundle || len(b.BlockedBy) > 0 {
				t.Errorf("%+v is chosen, the verdict has %+v", b, v.Bundle)
			}
		}
		if (b.State == resolver.GraphBlocked) != (len(b.BlockedBy) > 0) && b.State != resolver.GraphInstalled {
			t.Errorf("%s is %s by %v", b.Name, b.State, b.BlockedBy)
		}
		if b.Installed && (g.Installed == nil || g.Installed.Name != b.Name) {
			t.Errorf("%s is installed, the graph has %+v", b.Name, g.Installed)
		}
		if i > 0 && g.Bundles[i-1].Bundle == b.Bundle {
			t.Errorf("%s stands twice", b.Name)
		}
	}
	if want := v.Outcome == resolver.OutcomeResolved && v.Catalog == g.Catalog; want != (chosen == 1) || chosen > 1 {
		t.Errorf("%d bundles are chosen, the outcome is %s", chosen, v.Outcome)
	}
	seen := map[resolver.GraphEdge]bool{}
	for _, e := range g.Edges {
		if e.From < 0 || e.From >= len(g.Bundles) || e.To < 0 || e.To >= len(g.Bundles) || e.From == e.To || seen[e] {
			t.Errorf("edge %+v of %d bundles", e, len(g.Bundles))
		}
		seen[e] = true
	}
}
