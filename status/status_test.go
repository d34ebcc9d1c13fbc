package status

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/store"
	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/resolver/casetest"
)

// TestConditionsSayWhatResolveSays goes through all cases of the resolver.
func TestConditionsSayWhatResolveSays(t *testing.T) {
	cases, err := casetest.Load(filepath.Join("..", "resolver", "testdata", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[resolver.Outcome]metav1.ConditionStatus{
		resolver.OutcomeResolved: metav1.ConditionTrue, resolver.OutcomeFailed: metav1.ConditionFalse, resolver.OutcomeUndecided: metav1.ConditionUnknown,
	}
	for _, c := range cases {
		catalogs, err := c.Inputs()
		if err != nil {
			t.Fatal(err)
		}
		v := resolver.Outlook(c.ClusterExtension(), catalogs, c.Rule)
		list := Conditions(&v, 7)
		r := byType(list, TypeResolved)
		if r.Status != want[v.Outcome] || r.Reason != string(v.Reason) || !strings.HasPrefix(r.Message, v.Message) {
			t.Errorf("%s: got %+v, want %s", c.File, r, v.Message)
		}
		if v.Bundle != nil && !strings.Contains(r.Message, v.Bundle.Name+" from catalog "+v.Catalog+" (priority ") {
			t.Errorf("%s: bundle and catalog are not in %q", c.File, r.Message)
		}
		if d := byType(list, TypeDeprecated); (d.Status == metav1.ConditionTrue) != (len(v.Deprecations) > 0) || (d.Status == metav1.ConditionUnknown) != (v.Catalog == "") {
			t.Errorf("%s: got %+v with %+v", c.File, d, v.Deprecations)
		}
		for _, c2 := range slices.Concat(list, plainConditions(&v, 7)) {
			if c2.ObservedGeneration != 7 || c2.Reason == "" || c2.Message == "" || c2.Status == "" {
				t.Errorf("%s: something is missing in %+v", c.File, c2)
			}
		}
	}
}

func TestMessagesAreCutWithTheCauseFirst(t *testing.T) {
	v := resolver.Verdict{Outcome: resolver.OutcomeFailed, Reason: resolver.PackageNotFound, Message: "the cause", Update: &resolver.Update{}}
	for range 1000 {
		v.Suggestions = append(v.Suggestions, resolver.Suggestion{Message: strings.Repeat("ä", 50)})
	}
	c := byType(Conditions(&v, 1), TypeResolved)
	if n := utf8.RuneCountInString(c.Message); n != maxMessage || !strings.HasPrefix(c.Message, "the cause\n") || !strings.HasSuffix(c.Message, "...") {
		t.Errorf("%d characters: %.60s", n, c.Message)
	}
}

// The health checks of GitOps tools know the conditions by name.
func TestHealthChecksKnowTheConditions(t *testing.T) {
	for _, file := range []string{"argocd/clusterextension.lua", "flux/extensions.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "manifests", "gitops", file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), TypeResolved) {
			t.Errorf("%s does not know %s", file, TypeResolved)
		}
	}
}

// contents are contents that stand still.
type contents map[string]catalog.Content

func (c contents) Content(cc *ocv1.ClusterCatalog) catalog.Content { return c[cc.Name] }
func (c contents) State(name string) (store.State, bool) {
	return store.State{Phase: store.Current, UID: types.UID(name)}, true
}
func (contents) Watch(func(string)) func() { return func() {} }
func (contents) Settled() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

func newTestWriter(t testing.TB, o Options) *Writer {
	t.Helper()
	if o.Contents == nil {
		o.Contents = contents{}
	}
	w, err := NewWriter(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func index(t testing.TB, text string) *catalog.Index {
	t.Helper()
	x, err := catalog.Read(strings.NewReader(text), catalog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestWhatIsNotLookedAtHasNotChanged changes catalogs at random, and compares those extensions that the change is said not
// to matter to with an evaluation of all.
func TestWhatIsNotLookedAtHasNotChanged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	packages := []string{"kiln", "wheel", "glaze", "clay"}
	content := func() *catalog.Index {
		var text strings.Builder
		for _, p := range packages {
			if r.IntN(2) == 0 {
				continue
			}
			fmt.Fprintf(&text, `{"schema":"olm.package","name":%q,"defaultChannel":"stable"}`, p)
			var entries []string
			for i := range 1 + r.IntN(3) {
				entries = append(entries, fmt.Sprintf(`{"name":"%s.v1.%d.0"}`, p, i))
				fmt.Fprintf(&text, `{"schema":"olm.bundle","package":%q,"name":"%s.v1.%d.0","image":"example.com/i%d","properties":[{"type":"olm.package","value":{"packageName":%q,"version":"1.%d.0"}}]}`, p, p, i, r.IntN(2), p, i)
			}
			fmt.Fprintf(&text, `{"schema":"olm.channel","package":%q,"name":"stable","entries":[%s]}`, p, strings.Join(entries, ","))
			if r.IntN(3) == 0 {
				fmt.Fprintf(&text, `{"schema":"olm.deprecations","package":%q,"entries":[{"reference":{"schema":"olm.package"},"message":"old"}]}`, p)
			}
		}
		return index(t, text.String())
	}
	face := func(name string) resolver.Catalog {
		c := resolver.Catalog{Name: name, Priority: int32(r.IntN(9)), Labels: map[string]string{"tier": []string{"gold", "silver"}[r.IntN(2)]}, Serving: r.IntN(5) > 0, Unavailable: r.IntN(8) == 0}
		switch r.IntN(6) {
		case 0:
			c.Content.Problem = "it is being loaded"
		case 1:
			c.Content = catalog.Content{Index: content(), Outdated: true, Problem: "later"}
		default:
			c.Content.Index = content()
		}
		return c
	}
	var exts []*ocv1.ClusterExtension
	for i, selector := range []*metav1.LabelSelector{nil, {MatchLabels: map[string]string{"tier": "gold"}}, {MatchLabels: map[string]string{ocv1.MetadataNameLabel: "a"}}, {MatchLabels: map[string]string{"tier": "!"}}} {
		for _, p := range append(packages, "nosuch") {
			for _, version := range []string{"", "1.0.0"} {
				ext := &ocv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d-%s", p, i, version), UID: "u"}}
				ext.Spec.Source = ocv1.SourceConfig{SourceType: ocv1.SourceTypeCatalog, Catalog: &ocv1.CatalogFilter{PackageName: p, Selector: selector, Version: version}}
				if version != "" {
					ext.Status.Install = &ocv1.ClusterExtensionInstallStatus{Bundle: ocv1.BundleMetadata{Name: p + ".v1.0.0", Version: "1.0.0"}}
				}
				exts = append(exts, ext)
			}
		}
	}
	w := newTestWriter(t, Options{})
	world := map[string]*resolver.Catalog{}
	evaluate := func(ext *ocv1.ClusterExtension) string {
		var list []resolver.Catalog
		for _, c := range world {
			list = append(list, *c)
		}
		v := resolver.Outlook(ext, list, resolver.RulePackage)
		w.remember(w.track(ext), &v)
		text, err := json.Marshal(slices.Concat(Conditions(&v, 1), plainConditions(&v, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	last := map[string]string{}
	for _, ext := range exts {
		last[ext.Name] = evaluate(ext)
	}
	spared, changed := 0, 0
	for range 800 {
		name := []string{"a", "b", "c"}[r.IntN(3)]
		var now *resolver.Catalog
		old := world[name]
		switch {
		case r.IntN(6) == 0:
			delete(world, name)
		case old != nil && r.IntN(2) == 0: // only its content
			same := *old
			same.Content.Index = content()
			now = &same
		default:
			f := face(name)
			now = &f
		}
		if now != nil {
			world[name] = now
		}
		affected := w.affected(name, now)
		for _, ext := range exts {
			text := evaluate(ext)
			if slices.Contains(affected, ext.Name) {
				changed++
			} else if spared++; text != last[ext.Name] {
				t.Fatalf("%s was not looked at after catalog %s changed from %+v to %+v, and changed from\n%s\nto\n%s", ext.Name, name, old, now, last[ext.Name], text)
			}
			last[ext.Name] = text
		}
	}
	if spared == 0 || changed == 0 {
		t.Errorf("%d spared and %d looked at", spared, changed)
	}
	t.Logf("%d looked at, %d spared", changed, spared)
}

func TestTheUrgentIsWrittenFirst(t *testing.T) {
	q := newWrites()
	put := func(name string, bad bool) { q.put(name, &job{bad: bad}) }
	put("a", false)
	put("b", false)
	put("c", true)
	put("d", false)
	put("a", false) // keeps its turn
	put("d", true)  // has become urgent
	put("e", false)
	q.drop("e")
	q.put("later", &job{bad: true, due: time.Now().Add(time.Hour)})
	var got []string
	for range 4 {
		name, _, ok := q.next(t.Context())
		if !ok {
			t.Fatal("nothing left")
		}
		got = append(got, name)
	}
	if want := []string{"c", "d", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// While one is being written, its next write waits.
	put("a", true)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if name, _, ok := q.next(ctx); ok {
		t.Errorf("got %s, which is being written", name)
	}
	q.done("a")
	if name, _, _ := q.next(t.Context()); name != "a" {
		t.Errorf("got %q, want a", name)
	}
	if n := q.len(); n != 1 {
		t.Errorf("%d wait, want 1", n)
	}
}

func managed(manager string, operation metav1.ManagedFieldsOperationType, text string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, Subresource: "status", FieldsV1: metav1.NewFieldsV1(text)}
}

func TestOwnersAreReadFromManagedFields(t *testing.T) {
	o := conditionOwners([]metav1.ManagedFieldsEntry{
		managed(FieldManager, metav1.ManagedFieldsOperationApply, `{"f:status":{"f:conditions":{"k:{\"type\":\"Deprecated\"}":{".":{},"f:type":{},"f:status":{}},"k:{\"type\":\"X\"}":{".":{}}}}}`),
		managed("other", metav1.ManagedFieldsOperationUpdate, `{"f:status":{"f:conditions":{"k:{\"type\":\"Deprecated\"}":{"f:status":{},"f:reason":{}}}}}`),
		managed("broken", metav1.ManagedFieldsOperationUpdate, `{"f:status":[]}`),
		managed("odd", metav1.ManagedFieldsOperationUpdate, `{"f:status":{"f:conditions":{"v:1":{},"k:{}":{},"k:[":{}}}}`),
		{Manager: "empty"},
	})
	if len(o.applied) != 2 || len(o.others) != 1 || o.names["Deprecated"] != "other" {
		t.Errorf("got %+v", o)
	}
	if fs, shared := o.remains("Deprecated"); !slices.Equal(fs, []string{"type"}) || !shared {
		t.Errorf("got %v, %v", fs, shared)
	}
	if fs, shared := o.remains("X"); len(fs) != 0 || shared {
		t.Errorf("got %v, %v", fs, shared)
	}
}

func TestWhatPassesByItselfIsNotWritten(t *testing.T) {
	w := newTestWriter(t, Options{Grace: time.Minute})
	st := &extension{}
	undecided := &resolver.Verdict{Outcome: resolver.OutcomeUndecided, Update: &resolver.Update{}}
	unknown := &resolver.Verdict{Outcome: resolver.OutcomeResolved, Update: &resolver.Update{Reason: resolver.InstalledStateUnknown}}
	said := func(reason resolver.Reason) *present {
		return &present{conditions: []metav1.Condition{{Type: TypeUpdateAvailable, Reason: string(reason), ObservedGeneration: 3}}}
	}
	if left := w.holdBack(st, undecided, true, &present{}, 3); left <= 0 {
		t.Error("content that is being loaded is written about")
	}
	if left := w.holdBack(st, undecided, false, &present{}, 3); left > 0 {
		t.Error("content that is missing is not written about")
	}
	if left := w.holdBack(st, unknown, false, said(resolver.UpToDate), 3); left <= 0 {
		t.Error("an installed state that was unset is written about")
	}
	if left := w.holdBack(st, unknown, false, said(resolver.InstalledStateUnknown), 3); left > 0 {
		t.Error("what was written about already is held back")
	}
	if left := w.holdBack(st, unknown, false, said(resolver.UpToDate), 4); left > 0 {
		t.Error("another generation is not written about")
	}
	st.held = time.Now().Add(-2 * time.Minute)
	if left := w.holdBack(st, undecided, true, &present{}, 3); left > 0 {
		t.Error("what does not pass is never written about")
	}
}

// A write that others undo is counted once, however often it is looked at, and the next ones wait longer each time.
func TestUndoneWritesWaitLonger(t *testing.T) {
	w := newTestWriter(t, Options{})
	want := desired{conditions: []metav1.Condition{{Type: TypeResolved, Reason: "Resolved"}}}
	st := &extension{asked: want.conditions}
	undone := &present{undone: true}
	var last time.Duration
	for round := range 4 {
		st.wrote = time.Now()
		var wait time.Duration
		for range 5 {
			wait = time.Until(w.due(st, &want, undone))
		}
		if st.undone != round+1 {
			t.Errorf("round %d was counted as %d", round+1, st.undone)
		}
		if round > 0 && wait <= last || round == 0 && wait > 0 {
			t.Errorf("round %d waits %s after %s", round+1, wait, last)
		}
		last = wait
	}
	st.wrote, st.undoneAt, st.notBefore = time.Now(), time.Now().Add(-time.Hour), time.Time{}
	if wait := time.Until(w.due(st, &want, undone)); wait > 0 {
		t.Errorf("after an hour it waits %s", wait)
	}
	// What has to change is written at once.
	st.wrote, st.notBefore = time.Now(), time.Time{}
	other := desired{conditions: []metav1.Condition{{Type: TypeResolved, Reason: "PackageNotFound"}}}
	if wait := time.Until(w.due(st, &other, undone)); wait > 0 {
		t.Errorf("another verdict waits %s", wait)
	}
}

// What somebody took away comes back with its time, and is no transition.
func TestWhatComesBackIsNoTransition(t *testing.T) {
	w := newTestWriter(t, Options{})
	ext := &ocv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "kiln", UID: "u", ResourceVersion: "20"}}
	st := w.track(ext)
	then := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	st.asked = []metav1.Condition{{Type: TypeResolved, Status: metav1.ConditionFalse, Reason: "PackageNotFound", LastTransitionTime: then}}
	st.version = "10"
	have := w.current(st, ext)
	want := desired{conditions: []metav1.Condition{{Type: TypeResolved, Status: metav1.ConditionFalse, Reason: "PackageNotFound"}}}
	want.setTimes(have.before)
	if got := want.conditions[0].LastTransitionTime; !have.undone || !got.Equal(&then) || turnsBad(have.before, want.conditions) {
		t.Errorf("undone %v, time %s, want %s", have.undone, got, then)
	}
}

func TestEventsAreForTransitions(t *testing.T) {
	c := func(kind string, s metav1.ConditionStatus) *metav1.Condition {
		return &metav1.Condition{Type: kind, Status: s}
	}
	for _, x := range []struct {
		now, old *metav1.Condition
		want     string
	}{
		{c(TypeResolved, "False"), nil, "Warning"},
		{c(TypeResolved, "True"), nil, ""},
		{c(TypeResolved, "True"), c(TypeResolved, "False"), "Normal"},
		{c(TypeResolved, "Unknown"), nil, ""},
		{c(TypeResolved, "Unknown"), c(TypeResolved, "True"), "Warning"},
		{c(TypeUpdateAvailable, "True"), nil, "Normal"},
		{c(TypeUpdateAvailable, "False"), c(TypeUpdateAvailable, "True"), ""},
		{c(TypeDeprecated, "True"), nil, "Warning"},
		{c(typeProgressing, "True"), nil, ""},
	} {
		kind, worth := eventOf(x.now, x.old)
		if !worth {
			kind = ""
		}
		if kind != x.want {
			t.Errorf("%s=%s: got %q, want %q", x.now.Type, x.now.Status, kind, x.want)
		}
	}
	if s := cutBytes(strings.Repeat("ä", 600), maxNote); len(s) > maxNote || !utf8.ValidString(s) {
		t.Errorf("%d bytes", len(s))
	}
}

func TestOptionsAreChecked(t *testing.T) {
	if _, err := NewWriter(Options{}); err == nil {
		t.Error("no contents are accepted")
	}
	if _, err := NewWriter(Options{Contents: contents{}, WritesPerSecond: -1}); err == nil {
		t.Error("a negative pace is accepted")
	}
	if _, err := ParseProfile("some"); err == nil {
		t.Error("an unknown profile is accepted")
	}
}
