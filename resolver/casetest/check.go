package casetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgate/olmgate/resolver"
)

// Check compares a verdict with what the case wants and returns what is wrong, nothing when all is right.
func (c Case) Check(v resolver.Verdict) []string {
	var wrong []string
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	w := c.Want
	if v.Outcome != w.Outcome || v.Reason != w.Reason {
		fail("outcome %s %s, want %s %s", v.Outcome, v.Reason, w.Outcome, w.Reason)
	}
	if w.Catalog != nil && v.Catalog != *w.Catalog {
		fail("catalog %q, want %q", v.Catalog, *w.Catalog)
	}
	if w.Bundle != nil && (v.Bundle == nil || v.Bundle.Name != *w.Bundle) {
		fail("bundle %+v, want %s", v.Bundle, *w.Bundle)
	}
	if w.Ambiguous != nil {
		var got []string
		for _, t := range v.Ambiguous {
			got = append(got, t.Name)
		}
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(w.Ambiguous)); !slices.Equal(got, want) {
			fail("ambiguous %v, want %v", got, want)
		}
	}
	has := func(r resolver.Reason) bool {
		return slices.ContainsFunc(v.Notes, func(n resolver.Note) bool { return n.Reason == r })
	}
	for _, r := range w.Notes {
		if !has(r) {
			fail("note %s is missing in %v", r, v.Notes)
		}
	}
	for _, r := range w.NotNotes {
		if has(r) {
			fail("note %s must not be there", r)
		}
	}
	if w.Deprecations != nil && !sameDeprecations(v.Deprecations, *w.Deprecations) {
		fail("deprecations %+v, want %d others", v.Deprecations, len(*w.Deprecations))
	}
	text := Text(v)
	for _, word := range w.MessageContains {
		if !strings.Contains(text, word) {
			fail("%q is missing in: %s", word, text)
		}
	}
	return wrong
}

// Text is all that a person sees of a verdict.
func Text(v resolver.Verdict) string {
	parts := []string{v.Message, v.Field}
	for _, n := range v.Notes {
		parts = append(parts, n.Message)
	}
	for _, s := range v.Suggestions {
		parts = append(parts, s.Message)
	}
	return strings.Join(parts, "\n")
}

func sameDeprecations(got []resolver.Deprecation, want []Deprecation) bool {
	if len(got) != len(want) {
		return false
	}
	used := make([]bool, len(got))
	for _, w := range want {
		i := slices.IndexFunc(got, func(g resolver.Deprecation) bool {
			return !used[slices.Index(got, g)] && g.Scope == w.Scope && (w.Name == nil || g.Name == *w.Name) && (w.Message == nil || g.Message == *w.Message)
		})
		if i < 0 {
			return false
		}
		used[i] = true
	}
	return true
}
