package resolver_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/olmgate/olmgate/resolver"
)

// TestTheResolverAnswersAsTheModelDoes compares outcome, reason, field, catalog, bundle, ties, missing content, notes
// and deprecations with a resolver written out naively.
func TestTheResolverAnswersAsTheModelDoes(t *testing.T) {
	for _, rule := range []resolver.Rule{resolver.RulePackage, resolver.RuleBundle} {
		t.Run(string(rule), func(t *testing.T) {
			seen := map[resolver.Reason]int{}
			rapid.Check(t, func(t *rapid.T) {
				w := drawWorld(t)
				v := resolver.Resolve(w.extension(), w.inputs(), rule)
				seen[v.Reason]++
				for _, n := range v.Notes {
					seen["note "+n.Reason]++
				}
				compareWithModel(t, w, v, model(w, rule))
			})
			t.Logf("%v", seen)
		})
	}
}

func compareWithModel(t *rapid.T, w world, v resolver.Verdict, want modelAnswer) {
	fail := func(what string, got, want any) {
		t.Fatalf("%s: %v, the model says %v\nworld: %s\nverdict: %+v", what, got, want, w, v)
	}
	if v.Outcome != want.outcome || v.Reason != want.reason {
		fail("answer", v.Outcome+" "+resolver.Outcome(v.Reason), want.outcome+" "+resolver.Outcome(want.reason))
	}
	if v.Field != want.field {
		fail("field", v.Field, want.field)
	}
	if v.Catalog != want.catalog {
		fail("catalog", v.Catalog, want.catalog)
	}
	if (v.Priority != nil) != (v.Catalog != "") {
		fail("priority", v.Priority, "with the catalog only")
	}
	bundle := ""
	if v.Bundle != nil {
		bundle = v.Bundle.Name + " " + v.Bundle.Version + " " + v.Bundle.Release
	}
	if bundle != want.bundle {
		fail("bundle", bundle, want.bundle)
	}
	var tied []string
	for _, c := range v.Ambiguous {
		tied = append(tied, c.Name)
	}
	slices.Sort(tied)
	if !slices.Equal(tied, want.ambiguous) {
		fail("tied", tied, want.ambiguous)
	}
	var named []string
	for _, c := range w.Catalogs {
		if v.Outcome == resolver.OutcomeUndecided && strings.Contains(v.Message, c.Name+" (priority") {
			named = append(named, c.Name)
		}
	}
	slices.Sort(named)
	if !slices.Equal(named, want.missing) {
		fail("catalogs whose content matters", named, want.missing)
	}
	var notes []resolver.Reason
	for _, n := range v.Notes {
		notes = append(notes, n.Reason)
	}
	slices.Sort(notes)
	if notes = slices.Compact(notes); !slices.Equal(notes, want.notes) {
		fail("notes", notes, want.notes)
	}
	var gone []string
	for _, d := range v.Deprecations {
		gone = append(gone, string(d.Scope)+" "+d.Name+" "+d.Message)
	}
	slices.Sort(gone)
	if !slices.Equal(gone, want.gone) {
		fail("deprecations", gone, want.gone)
	}
}
