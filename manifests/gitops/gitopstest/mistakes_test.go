package gitopstest

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
)

// mistake is a text of a check and what a careless hand makes of it.
type mistake struct{ right, wrong string }

var (
	luaMistakes = []mistake{
		{`== "False"`, `~= "False"`},
		{`== "True"`, `~= "True"`},
		{`is(`, `not is(`},
		{`current(`, `not current(`},
		{`~= nil`, `== nil`},
		{`"Progressing")`, `"Degraded")`},
		{`"Progressing",`, `"Healthy",`},
		{`"Degraded",`, `"Progressing",`},
		{`"Healthy",`, `"Degraded",`},
		{`"deletionTimestamp"`, `"deleted"`},
		{`"generation"`, `"resourceVersion"`},
		{`"Succeeded"`, `"Retrying"`},
		{`"olmgate.dev/`, `"`},
		{`"Installed")`, `"Available")`},
		{`"Available")`, `"Installed")`},
		{`"Serving")`, `"Progressing")`},
		{`"UserSpecifiedUnavailable"`, `"Unavailable"`},
		{`"Catalog"`, `"Image"`},
		{` and `, ` or `},
		{` or `, ` and `},
		{`says(`, `text(`},
	}
	celMistakes = []mistake{
		{"'False'", "'True'"},
		{"'True'", "'False'"},
		{"'Succeeded'", "'Retrying'"},
		{"'Progressing'", "'Installed'"},
		{"'Installed'", "'Progressing'"},
		{"'Available'", "'Installed'"},
		{"'Serving'", "'Progressing'"},
		{"'UserSpecifiedUnavailable'", "'Unavailable'"},
		{"'olmgate.dev/Resolved'", "'Resolved'"},
		{"'Catalog'", "'Image'"},
		{"deletionTimestamp", "deleted"},
		{"== metadata.generation", "!= metadata.generation"},
		{"has(c.observedGeneration) &&", ""},
		{"has(status.conditions) &&", ""},
		{"has(spec.source) &&", ""},
		{"!status", "status"},
		{"!(c", "(c"},
	}
)

// TestTheCasesNoticeAMistake makes one mistake at a time, at one place. Some case must fail then.
func TestTheCasesNoticeAMistake(t *testing.T) {
	for _, k := range kinds(t) {
		tried := 0
		for _, m := range luaMistakes {
			for _, script := range spoil(code(k.lua), m) {
				tried++
				if !k.noticeLua(script) {
					t.Errorf("%s: no case needs %s in\n%s", k.kind, m.right, difference(code(k.lua), script))
				}
			}
		}
		for _, field := range []func(*kustomize.CustomHealthCheck) *string{
			func(e *kustomize.CustomHealthCheck) *string { return &e.InProgress },
			func(e *kustomize.CustomHealthCheck) *string { return &e.Failed },
			func(e *kustomize.CustomHealthCheck) *string { return &e.Current },
		} {
			for _, m := range celMistakes {
				for _, wrong := range spoil(*field(&k.flux), m) {
					tried++
					check := k.flux
					*field(&check) = wrong
					if !k.noticeCEL(t, check) {
						t.Errorf("%s: no case needs %s; this does as well:\n%s", k.kind, m.right, wrong)
					}
				}
			}
		}
		if tried < 40 {
			t.Errorf("%s: only %d mistakes were made", k.kind, tried)
		}
	}
}

// spoil makes a mistake at each place in turn.
func spoil(text string, m mistake) []string {
	var all []string
	for at := 0; ; {
		i := strings.Index(text[at:], m.right)
		if i < 0 {
			return all
		}
		all = append(all, text[:at+i]+m.wrong+text[at+i+len(m.right):])
		at += i + len(m.right)
	}
}

// code is a script without its comments.
func code(script string) string {
	var lines []string
	for line := range strings.SplitSeq(script, "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// difference is the line that differs.
func difference(right, wrong string) string {
	lines := strings.Split(wrong, "\n")
	for i, line := range strings.Split(right, "\n") {
		if lines[i] != line {
			return lines[i]
		}
	}
	return ""
}

func (k checks) noticeLua(script string) bool {
	for _, tc := range k.cases {
		got, err := runLua(script, object(k.kind, tc.edits, tc.conditions...))
		if err != nil || got != (argoHealth{tc.argo, tc.message}) {
			return true
		}
	}
	return false
}

func (k checks) noticeCEL(t *testing.T, check kustomize.CustomHealthCheck) bool {
	reader := fluxReader(t, check)
	for _, tc := range k.cases {
		if runFlux(t, reader, object(k.kind, tc.edits, tc.conditions...)) != tc.flux {
			return true
		}
	}
	return false
}
