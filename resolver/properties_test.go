package resolver_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/olmgate/olmgate/resolver"
)

var rules = []resolver.Rule{resolver.RulePackage, resolver.RuleBundle}

func asText(t *rapid.T, v resolver.Verdict) string {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestTheOrderOfInputsDoesNotMatter shuffles catalogs and blobs.
func TestTheOrderOfInputsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		rule := oneOf(t, "rule", rules)
		want := asText(t, resolver.Resolve(w.extension(), w.inputs(), rule))
		var shuffled []resolver.Catalog
		for _, c := range rapid.Permutation(w.Catalogs).Draw(t, "catalogs in another order") {
			blobs := c.blobs()
			slices.Sort(blobs) // their order comes from a map
			shuffled = append(shuffled, c.input(rapid.Permutation(blobs).Draw(t, "blobs in another order")))
		}
		if got := asText(t, resolver.Resolve(w.extension(), shuffled, rule)); got != want {
			t.Fatalf("world: %s\ngot\n%s\nwant\n%s", w, got, want)
		}
	})
}

// TestResolvingChangesNothing resolves twice with the same inputs, under either rule in between.
func TestResolvingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		ext, in := w.extension(), w.inputs()
		before, err := json.Marshal(ext)
		if err != nil {
			t.Fatal(err)
		}
		first, second := asText(t, resolver.Resolve(ext, in, rules[0])), asText(t, resolver.Resolve(ext, in, rules[1]))
		if asText(t, resolver.Resolve(ext, in, rules[0])) != first || asText(t, resolver.Resolve(ext, in, rules[1])) != second {
			t.Fatalf("another answer the second time\nworld: %s", w)
		}
		if after, err := json.Marshal(ext); err != nil || string(after) != string(before) {
			t.Fatalf("the extension was changed\nworld: %s", w)
		}
		for i := 1; i < len(in); i++ {
			if in[i-1].Name >= in[i].Name {
				t.Fatal("the catalogs were put in another order")
			}
		}
	})
}

// sameChoice compares all that an installer would act on.
func sameChoice(a, b resolver.Verdict) bool {
	return a.Outcome == b.Outcome && a.Reason == b.Reason && a.Catalog == b.Catalog && fmt.Sprint(a.Bundle) == fmt.Sprint(b.Bundle) &&
		fmt.Sprint(a.Ambiguous) == fmt.Sprint(b.Ambiguous)
}

// TestALowerCatalogNeverChangesASelection adds catalogs of any content below the one that was selected.
func TestALowerCatalogNeverChangesASelection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		before := resolver.Resolve(w.extension(), w.inputs(), resolver.RulePackage)
		if before.Priority == nil && before.Reason != resolver.AmbiguousCatalogs {
			return
		}
		priority := int32(0)
		if before.Priority != nil {
			priority = *before.Priority
		} else {
			priority = before.Ambiguous[0].Priority
		}
		lower := drawCatalog(t, "added")
		lower.Priority = priority - 1 - int32(below(t, "how much lower", 200))
		w.Catalogs = append(w.Catalogs, lower)
		after := resolver.Resolve(w.extension(), w.inputs(), resolver.RulePackage)
		if !sameChoice(before, after) {
			t.Fatalf("%s: %+v\nbefore: %+v", w, after, before)
		}
	})
}

// TestALeftOutCatalogChangesNothingButTheTrace adds catalogs that are unavailable, being deleted or not selected.
func TestALeftOutCatalogChangesNothingButTheTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		rule := oneOf(t, "rule", rules)
		before := resolver.Resolve(w.extension(), w.inputs(), rule)
		added := drawCatalog(t, "added")
		added.Unavailable = chance(t, 50, "unavailable")
		added.Deleting = !added.Unavailable
		w.Catalogs = append(w.Catalogs, added)
		after := resolver.Resolve(w.extension(), w.inputs(), rule)
		if len(after.Trace.Catalogs) != len(before.Trace.Catalogs)+1 {
			t.Fatalf("the trace does not name the catalog: %+v", after.Trace)
		}
		for _, c := range after.Trace.Catalogs {
			if c.Name == "added" && (c.Considered || c.Why == "") {
				t.Fatalf("trace %+v", c)
			}
		}
		before.Trace, after.Trace = resolver.Trace{}, resolver.Trace{}
		switch after.Reason {
		case resolver.NoCatalogsSelected, resolver.PackageNotFound: // the messages name catalogs that are left out
			before.Message, after.Message = "", ""
			before.Suggestions, after.Suggestions = nil, nil
		}
		if got, want := asText(t, after), asText(t, before); got != want {
			t.Fatalf("world: %s\nafter:  %s\nbefore: %s", w, got, want)
		}
	})
}

// TestTheOnlyHolderOfTheFirstGroupIsSelected is the walk, seen from its answer.
func TestTheOnlyHolderOfTheFirstGroupIsSelected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for i := range w.Catalogs {
			w.Catalogs[i].Missing = false
		}
		v := resolver.Resolve(w.extension(), w.inputs(), resolver.RulePackage)
		var top []resolver.TraceCatalog
		for _, c := range v.Trace.Catalogs {
			if c.Considered && c.Contains && (len(top) == 0 || c.Priority == top[0].Priority) {
				top = append(top, c)
			}
		}
		switch {
		case len(top) == 1 && v.Catalog != top[0].Name:
			t.Fatalf("%s alone holds the package at the top, selected is %q", top[0].Name, v.Catalog)
		case len(top) > 1 && (v.Reason != resolver.AmbiguousCatalogs || len(v.Ambiguous) != len(top)):
			t.Fatalf("%d catalogs hold the package at the top, the answer is %s of %+v", len(top), v.Reason, v.Ambiguous)
		case len(top) == 0 && v.Catalog != "":
			t.Fatalf("no catalog holds the package, selected is %q", v.Catalog)
		}
	})
}

// TestTheTraceCounts compares the counts of the trace with the model's.
func TestTheTraceCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		rule := oneOf(t, "rule", rules)
		v := resolver.Resolve(w.extension(), w.inputs(), rule)
		if len(v.Trace.Catalogs) != len(w.Catalogs) || v.Trace.Rule != rule {
			t.Fatalf("trace %+v of %d catalogs", v.Trace, len(w.Catalogs))
		}
		unread := slices.Contains([]resolver.Reason{resolver.MissingCatalogSource, resolver.InvalidSelector, resolver.InvalidVersionRange, resolver.InvalidInstalledVersion}, v.Reason)
		for i, got := range v.Trace.Catalogs {
			if i > 0 {
				if last := v.Trace.Catalogs[i-1]; last.Priority < got.Priority || last.Priority == got.Priority && last.Name >= got.Name {
					t.Fatalf("the trace is not in order: %+v", v.Trace)
				}
			}
			c := w.Catalogs[slices.IndexFunc(w.Catalogs, func(c worldCatalog) bool { return c.Name == got.Name })]
			considered := !unread && modelSelects(w.Ext.Selector, c) && !c.Unavailable && !c.Deleting
			if got.Considered != considered || got.Considered == (got.Why != "") && !c.Missing && !strings.HasPrefix(got.Why, "not looked at") {
				t.Fatalf("trace %+v, considered should be %v\nworld: %s", got, considered, w)
			}
			if !considered || c.Missing || !modelContains(c, w.Ext.Package) {
				if got.Considered && got.Contains || got.Bundles+got.InChannels+got.InVersionRange+got.Upgradable > 0 {
					t.Fatalf("trace %+v of a catalog without the package\nworld: %s", got, w)
				}
				continue
			}
			p := c.Packages[w.Ext.Package]
			counts := [4]int{}
			for j, drop := range [][]string{{"channels", "version", "edges"}, {"version", "edges"}, {"edges"}, nil} {
				for b := range p.Bundles {
					if modelQualifies(w, p, b, drop) {
						counts[j]++
					}
				}
			}
			if counts != [4]int{got.Bundles, got.InChannels, got.InVersionRange, got.Upgradable} || !got.Contains {
				t.Fatalf("trace %+v, want %v\nworld: %s", got, counts, w)
			}
		}
	})
}

// apply makes the change that a suggestion proposes.
func apply(t *rapid.T, ext *ocv1.ClusterExtension, s resolver.Suggestion) {
	into := func(v any) {
		if err := json.Unmarshal(s.Value, v); err != nil {
			t.Fatalf("suggestion %s: %v", s.Value, err)
		}
	}
	src := ext.Spec.Source.Catalog
	switch s.Field {
	case "spec.source.catalog.selector":
		src.Selector = nil
		if string(s.Value) != "null" {
			src.Selector = &metav1.LabelSelector{}
			into(src.Selector)
		}
	case "spec.source.catalog.version":
		src.Version = ""
		into(&src.Version)
	case "spec.source.catalog.channels":
		src.Channels = nil
		into(&src.Channels)
	case "spec.source.catalog.packageName":
		into(&src.PackageName)
	case "spec.source.catalog.upgradeConstraintPolicy":
		into(&src.UpgradeConstraintPolicy)
	default:
		t.Fatalf("a suggestion for field %q", s.Field)
	}
}

// TestSuggestionsHelp applies each suggestion of a failure by itself: the answer is then another one.
func TestSuggestionsHelp(t *testing.T) {
	helped := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		rule := oneOf(t, "rule", rules)
		v := resolver.Resolve(w.extension(), w.inputs(), rule)
		if v.Outcome != resolver.OutcomeFailed {
			differs := slices.ContainsFunc(v.Notes, func(n resolver.Note) bool { return n.Reason == resolver.SelectionDiffers })
			if want := v.Outcome == resolver.OutcomeResolved && differs; (len(v.Suggestions) == 1) != want || len(v.Suggestions) > 1 {
				t.Fatalf("suggestions without a failure: %+v", v)
			}
			return
		}
		if v.Reason == resolver.NoUpgradePath && strings.Contains(v.Message, "without") {
			all := w.extension()
			for _, s := range v.Suggestions {
				apply(t, all, s)
			}
			if after := resolver.Resolve(all, w.inputs(), rule); after.Outcome == resolver.OutcomeFailed {
				t.Fatalf("all suggestions together do not help\nbefore: %+v\nafter: %+v\nworld: %s", v, after, w)
			}
		}
		for _, s := range v.Suggestions {
			ext := w.extension()
			apply(t, ext, s)
			after := resolver.Resolve(ext, w.inputs(), rule)
			fail := func(why string) {
				t.Fatalf("%s\nsuggestion %s = %s (%s)\nbefore: %s %s\nafter: %s %s\nworld: %s", why, s.Field, s.Value, s.Message, v.Reason, v.Message, after.Reason, after.Message, w)
			}
			helped[fmt.Sprintf("%s: %s gives %s", v.Reason, s.Field[strings.LastIndex(s.Field, ".")+1:], after.Reason)]++
			pair := strings.Contains(v.Message, "both conditions") || strings.Contains(v.Message, "at once") || strings.Contains(v.Message, "without the edges and the channels")
			switch {
			case after.Outcome == resolver.OutcomeUndecided && slices.ContainsFunc(v.Notes, func(n resolver.Note) bool { return n.Reason == resolver.CatalogContentUnavailable }):
				// It failed whatever the missing content holds; now that content matters.
			case v.Reason == resolver.NoMatchingBundle || pair:
				// More than one field has to change, and the message says so.
			case v.Reason == resolver.AmbiguousCatalogs && rule == resolver.RuleBundle && after.Outcome != resolver.OutcomeResolved:
				fail("one of the tied catalogs does not resolve by itself")
			case (v.Reason == resolver.NoMatchingVersion || v.Reason == resolver.NoMatchingChannel || v.Reason == resolver.NoUpgradePath) && after.Outcome != resolver.OutcomeResolved:
				fail("it does not resolve")
			case after.Reason == v.Reason:
				fail("the reason is still the same")
			}
		}
	})
	for k, n := range helped {
		t.Log(n, k)
	}
}

// TestTheSelectorOfSelectionDiffersMakesTheRulesAgree pastes the selector that the note proposes.
func TestTheSelectorOfSelectionDiffersMakesTheRulesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		rule := oneOf(t, "rule", rules)
		v := resolver.Resolve(w.extension(), w.inputs(), rule)
		i := slices.IndexFunc(v.Notes, func(n resolver.Note) bool { return n.Reason == resolver.SelectionDiffers })
		if i < 0 {
			return
		}
		_, name, ok := strings.Cut(v.Notes[i].Message, ocv1.MetadataNameLabel+": ")
		if !ok {
			t.Fatalf("no selector in %q", v.Notes[i].Message)
		}
		w.Ext.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{ocv1.MetadataNameLabel: strings.TrimRight(name, "}")}}
		a, b := resolver.Resolve(w.extension(), w.inputs(), rules[0]), resolver.Resolve(w.extension(), w.inputs(), rules[1])
		if a.Outcome != resolver.OutcomeResolved || !sameChoice(a, b) {
			t.Fatalf("%s\nby package: %+v\nby bundle: %+v\nworld: %s", v.Notes[i].Message, a, b, w)
		}
	})
}

// TestTheUpgradePathIsTheShortest compares the number of hops with a search of all paths.
func TestTheUpgradePathIsTheShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.Ext.SelfCertified = false
		v := resolver.Resolve(w.extension(), w.inputs(), resolver.RulePackage)
		if v.Reason != resolver.NoUpgradePath || strings.Contains(v.Message, "without") {
			return
		}
		c := w.Catalogs[slices.IndexFunc(w.Catalogs, func(c worldCatalog) bool { return c.Name == v.Catalog })]
		want := modelHops(w, c.Packages[w.Ext.Package])
		_, path, found := strings.Cut(v.Message, "Shortest path: ")
		if got := strings.Count(path, " -> "); found != (want > 0) || found && got != want {
			t.Fatalf("%d hops, want %d: %s\nworld: %s", got, want, v.Message, w)
		}
	})
}

// modelHops is the least number of edges from the installed bundle to one that qualifies but for the edges, 0 when
// there is no way. Each hop is an edge of the channels that count and ends at a bundle with a version.
func modelHops(w world, p worldPackage) int {
	from := map[int]bool{} // -1 is the installed bundle
	from[-1] = true
	for hops := 1; hops <= len(p.Bundles)+1; hops++ {
		next := map[int]bool{}
		for at := range from {
			name, version := w.Ext.Installed.Name, modelInstalledVersion(w)
			if at >= 0 {
				v, _ := modelVersion(p.Bundles[at].Version, p.Bundles[at].Release)
				name, version = p.Bundles[at].Name, &v.version
			}
			for _, ch := range p.Channels {
				if len(w.Ext.Channels) > 0 && !slices.Contains(w.Ext.Channels, ch.Name) {
					continue
				}
				for _, e := range ch.Entries {
					for b := range p.Bundles {
						if _, ok := modelVersion(p.Bundles[b].Version, p.Bundles[b].Release); ok && p.Bundles[b].Name == e.Name && modelEdge(e, name, version) {
							next[b] = true
						}
					}
				}
			}
		}
		for b := range next {
			if modelQualifies(w, p, b, []string{"edges"}) {
				return hops
			}
		}
		from = next
	}
	return 0
}
