package resolver_test

import (
	"strings"
	"testing"

	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/resolver/casetest"
)

// TestNoSuggestionIsBetterThanAUselessOne looks at a case in which no change of the extension helps.
func TestNoSuggestionIsBetterThanAUselessOne(t *testing.T) {
	for _, c := range loadCases(t) {
		if c.File != "removing-the-selector-would-not-help" {
			continue
		}
		if v := resolveCase(t, c); len(v.Suggestions) > 0 {
			t.Errorf("suggestions %+v", v.Suggestions)
		}
		return
	}
	t.Fatal("the case is gone")
}

// TestVerdictsOfAllCasesAreFitToPrint checks what every door relies on.
func TestVerdictsOfAllCasesAreFitToPrint(t *testing.T) {
	for _, c := range loadCases(t) {
		v := resolveCase(t, c)
		if text := casetest.Text(v); strings.Contains(text, "immutable") || strings.ContainsAny(strings.ReplaceAll(text, "\n", ""), "\t\r\x00") {
			t.Errorf("%s: %q", c.File, text)
		}
		if v.Message == "" || v.Deprecations == nil || v.Notes == nil || v.Suggestions == nil || v.Trace.Catalogs == nil {
			t.Errorf("%s: something is missing in %+v", c.File, v)
		}
		if (v.Field == "") != (v.Outcome != resolver.OutcomeFailed) {
			t.Errorf("%s: outcome %s with field %q", c.File, v.Outcome, v.Field)
		}
	}
}
