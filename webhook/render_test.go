package webhook

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/olmgate/olmgate/resolver"
)

var update = flag.Bool("update", false, "write the golden files")

// TestWhatThePersonSees keeps the whole answer to a few cases, as the API server gets it.
func TestWhatThePersonSees(t *testing.T) {
	for _, file := range []string{tie, "target-exists-but-no-edge-reaches-it", "package-name-with-a-typo", "content-missing-in-the-group-that-decides", "deprecations-reported-when-nothing-qualifies"} {
		for _, mode := range []Mode{ModeEnforce, ModeWarn} {
			t.Run(fmt.Sprint(file, " ", mode), func(t *testing.T) {
				c := loadCase(t, file)
				w := worldOf(t, c)
				w.options.Mode = mode
				got, err := yaml.Marshal(w.review(t, c.ClusterExtension()))
				if err != nil {
					t.Fatal(err)
				}
				golden := filepath.Join("testdata", file+"."+strings.ToLower(string(mode))+".yaml")
				if *update {
					if err := os.WriteFile(golden, got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("run with -update after looking at this: %s", diff)
				}
			})
		}
	}
}

func note(r resolver.Reason, message string) resolver.Note {
	return resolver.Note{Reason: r, Message: message}
}

func TestWarningsStayWithinTheirBounds(t *testing.T) {
	long := strings.Repeat("é\n\xff ", 400)
	many := []resolver.Note{
		note(resolver.InvalidBundleVersion, long), note(resolver.PackageDeprecated, ""), note(resolver.MajorJump, "m"),
		note(resolver.SelectionDiffers, "s"), note(resolver.BundleDeprecated, "b"), note(resolver.BundleDeprecated, "b2"), note(resolver.CatalogNotServing, "c"),
	}
	for name, tc := range map[string]struct {
		verdict resolver.Verdict
		action  Action
		want    []string
	}{
		"nothing to say": {resolver.Verdict{Outcome: resolver.OutcomeResolved}, Ignore, nil},
		"notes by severity, five of them, and where the rest is": {
			resolver.Verdict{Extension: "argocd", Outcome: resolver.OutcomeResolved, Notes: many}, Ignore,
			[]string{"olmgate: SelectionDiffers: s", "olmgate: CatalogNotServing: c", "olmgate: BundleDeprecated: b", "olmgate: BundleDeprecated: b2", "olmgate: PackageDeprecated: ", "olmgate: and 2 more: olmgate resolve argocd"},
		},
		"the failure first": {
			resolver.Verdict{Outcome: resolver.OutcomeFailed, Reason: resolver.PackageNotFound, Message: "no such package", Notes: many[3:4]}, Warn,
			[]string{"olmgate: PackageNotFound: no such package", "olmgate: SelectionDiffers: s"},
		},
		"a failure that is ignored leaves its notes": {
			resolver.Verdict{Outcome: resolver.OutcomeFailed, Reason: resolver.PackageNotFound, Message: "no such package", Notes: many[3:4]}, Ignore,
			[]string{"olmgate: SelectionDiffers: s"},
		},
		"a message for humans of ten kilobytes": {
			resolver.Verdict{Outcome: resolver.OutcomeFailed, Reason: resolver.PackageNotFound, Message: strings.Repeat("0123456789", 1000)}, Warn,
			[]string{"olmgate: PackageNotFound: 0", "olmgate: PackageNotFound: ", "olmgate: PackageNotFound: "},
		},
		"a name that is as long as names can be": {
			resolver.Verdict{Extension: strings.Repeat("n", 253), Outcome: resolver.OutcomeResolved, Notes: many}, Ignore,
			[]string{"", "", "", "", "", "olmgate: and 2 more: olmgate resolve nnn"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := tc.verdict
			got := warnings(&v, decision{action: tc.action, notes: shownNotes(v.Notes, Policy{})})
			if len(got) != len(tc.want) {
				t.Fatalf("%q", got)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tc.want[i]) || utf8.RuneCountInString(got[i]) > maxWarningLength {
					t.Errorf("warning %d: %q, want %q", i, got[i], tc.want[i])
				}
			}
		})
	}
}

func TestADenialIsBounded(t *testing.T) {
	v := &resolver.Verdict{Extension: "x", Outcome: resolver.OutcomeFailed, Reason: resolver.AmbiguousCatalogs, Field: "spec.source.catalog.selector", Message: strings.Repeat("it is immutable\n", 10_000)}
	for i := range 500 {
		v.Suggestions = append(v.Suggestions, resolver.Suggestion{Field: "spec.source.catalog.version", Value: json.RawMessage(fmt.Sprintf(`"%d"`, i)), Message: "ask for\nless,"})
	}
	status := denial(v, nil)
	if n := utf8.RuneCountInString(status.Message); n > maxDenialLength {
		t.Errorf("%d characters", n)
	}
	if !strings.Contains(status.Message, "more changes would help") || recreates.MatchString(status.Message) {
		t.Error(status.Message)
	}
	if len(status.Details.Causes) > maxCauses {
		t.Errorf("%d causes", len(status.Details.Causes))
	}
}

func TestASuggestionCanBePasted(t *testing.T) {
	for name, tc := range map[string]struct {
		in   resolver.Suggestion
		want string
	}{
		"a message that says it all": {resolver.Suggestion{Field: "spec.a", Value: json.RawMessage(`"b"`), Message: "to be sure, set spec.a: b"}, "to be sure, set spec.a: b"},
		"a message that does not":    {resolver.Suggestion{Field: "spec.a", Value: json.RawMessage(`{"k":["v","w"]}`), Message: "to be sure,"}, `to be sure, set spec.a: {"k": ["v", "w"]}`},
		"no message":                 {resolver.Suggestion{Field: "spec.a", Value: json.RawMessage(`"a:b,\"c"`)}, `set spec.a: "a:b,\"c"`},
		"a removal":                  {resolver.Suggestion{Field: "spec.a", Value: json.RawMessage(`null`)}, "remove spec.a"},
		"a value that is not JSON":   {resolver.Suggestion{Field: "spec.a", Value: json.RawMessage(`{`)}, "set spec.a: {"},
		"a value with a line break":  {resolver.Suggestion{Field: "spec.a", Value: json.RawMessage("\"a\\nb\"")}, `set spec.a: "a\nb"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := suggestionText(tc.in); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
