package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/olmgate/olmgate/resolver"
)

func TestMarkdownFitsIntoAComment(t *testing.T) {
	for _, n := range []int{0, 1, 100, 300, 2000} {
		for _, message := range []string{"short", strings.Repeat("long ü ", 150), strings.Repeat("`|<", 500)} {
			r := many(n)
			for i := range r.Findings {
				r.Findings[i].Message = message
			}
			r.Accepted, r.Notices = r.Findings, []string{message}
			r.Plan = &Plan{Base: message}
			for i := range n {
				r.Plan.Changes = append(r.Plan.Changes, Change{Mark: Added, Extension: fmt.Sprint(i), After: &Side{Outcome: resolver.OutcomeFailed, Message: message}})
			}
			out := render(t, "markdown", r, options)
			if len(out) > markdownLimit || !utf8.ValidString(out) {
				t.Errorf("%d findings: %d bytes", n, len(out))
			}
			if strings.Count(out, "<details>") != strings.Count(out, "</details>") {
				t.Errorf("%d findings: details are left open", n)
			}
			if n == 2000 && !strings.Contains(out, "**Cut here**") {
				t.Error("a cut comment must say so")
			}
		}
	}
}

// TestMarkdownTextIsOnlyText makes sure that nothing of others is markup, a mention or a row of its own.
func TestMarkdownTextIsOnlyText(t *testing.T) {
	bad := regexp.MustCompile("[<>|`*_\\[\\]()~!\\\\\n\r]|[@#][\\pL\\pN_]|://|(?i:www\\.)")
	entity := regexp.MustCompile(`&(amp|lt|gt|quot|#\d+);`)
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{hostile, "www.evil.example", "GH-1 @a@b #1#2", "<!-- x -->"})).Draw(rt, "text")
		if rest := entity.ReplaceAllString(markdownText(s), " "); bad.MatchString(rest) || strings.Contains(rest, "&") {
			rt.Errorf("%q becomes %q", s, markdownText(s))
		}
		code := markdownCode(s)
		inner := strings.TrimSuffix(strings.TrimPrefix(code, "<code>"), "</code>")
		if strings.HasPrefix(code, "`") {
			inner = code[1 : len(code)-1]
		}
		if strings.ContainsAny(inner, "<>|`\n") {
			rt.Errorf("%q becomes %q", s, code)
		}
	})
}

func TestMarkdownTablesKeepTheirColumns(t *testing.T) {
	columns := 0
	for line := range strings.Lines(render(t, "markdown", sample(t), options)) {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(line, "|")
		if columns != 0 && n != columns {
			t.Errorf("%d columns, want %d: %s", n, columns, line)
		}
		columns = n
	}
}
