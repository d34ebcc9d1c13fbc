package resolver_test

import (
	"slices"
	"testing"

	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/resolver/casetest"
)

// folders are where the cases are: the common ones, and more that only the resolver's tests use.
var folders = []string{"testdata/cases", "testdata/more"}

func loadCases(t *testing.T) []casetest.Case {
	t.Helper()
	var all []casetest.Case
	for _, dir := range folders {
		cases, err := casetest.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cases...)
	}
	return all
}

func resolveCase(t *testing.T, c casetest.Case) resolver.Verdict {
	t.Helper()
	inputs, err := c.Inputs()
	if err != nil {
		t.Fatalf("%s: %v", c.File, err)
	}
	return resolver.Resolve(c.ClusterExtension(), inputs, c.Rule)
}

func TestCases(t *testing.T) {
	for _, c := range loadCases(t) {
		t.Run(c.File, func(t *testing.T) {
			v := resolveCase(t, c)
			for _, w := range c.Check(v) {
				t.Error(w)
			}
			t.Logf("%s", casetest.Text(v))
		})
	}
}

// TestEveryReasonAndNoteHasACase also fails when a verdict holds a reason that is not of the closed set.
func TestEveryReasonAndNoteHasACase(t *testing.T) {
	reasons, notes := map[resolver.Reason]string{}, map[resolver.Reason]string{}
	for _, c := range loadCases(t) {
		v := resolveCase(t, c)
		reasons[v.Reason] = c.File
		for _, n := range v.Notes {
			notes[n.Reason] = c.File
		}
	}
	known := append(resolver.Failures(), resolver.Resolved, resolver.CatalogContentUnavailable)
	for _, r := range known {
		if reasons[r] == "" {
			t.Errorf("no case gives the reason %s", r)
		}
	}
	for _, r := range resolver.Notes() {
		if notes[r] == "" {
			t.Errorf("no case gives the note %s", r)
		}
	}
	for r, file := range reasons {
		if !slices.Contains(known, r) {
			t.Errorf("%s gives the unlisted reason %q", file, r)
		}
	}
	for r, file := range notes {
		if !slices.Contains(resolver.Notes(), r) {
			t.Errorf("%s gives the unlisted note %q", file, r)
		}
	}
}
