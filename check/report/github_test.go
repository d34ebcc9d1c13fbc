package report

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var githubAnnotation = regexp.MustCompile(`^::(error|warning|notice) (file=[^:,\r\n]*,)?(line=\d+,(endLine=\d+,)?(col=\d+,)?(endColumn=\d+,)?)?title=[^:,\r\n]*::[^\r\n]*$`)

// TestGitHubLinesAreWhatTheyShouldBe makes sure that text of others starts no command, whatever it is.
func TestGitHubLinesAreWhatTheyShouldBe(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{hostile, "\n::error::x", "a,b:c%", "\r\n##[debug]x"}))
		r := sample(t)
		f := &r.Findings[0]
		f.Message, f.Name, f.File, f.Field = text.Draw(rt, "message"), text.Draw(rt, "name"), text.Draw(rt, "file"), text.Draw(rt, "field")
		r.Notices = []string{text.Draw(rt, "notice")}
		r.Plan.Base, r.Plan.Changes[0].Extension, r.Plan.Changes[0].After.Message = text.Draw(rt, "base"), text.Draw(rt, "extension"), text.Draw(rt, "why")
		annotations := 0
		for line := range strings.Lines(render(t, "github", r, options)) {
			line = strings.TrimSuffix(line, "\n")
			switch {
			case githubAnnotation.MatchString(line):
				annotations++
			case strings.HasPrefix(line, "::group::Plan against "), line == "::endgroup::":
			case strings.HasPrefix(strings.TrimSpace(line), "::"), strings.Contains(line, "##["):
				rt.Errorf("a line that is a command: %q", line)
			}
		}
		if want := len(r.Findings) + 1; annotations != want {
			rt.Errorf("%d annotations, want %d", annotations, want)
		}
	})
}

func TestGitHubSaysWhatIsBeyondItsLimit(t *testing.T) {
	if out := render(t, "github", many(12), options); !strings.Contains(out, "GitHub shows 10 of 12 warnings as annotations") {
		t.Errorf("the limit is not mentioned: %s", out)
	}
	if out := render(t, "github", many(10), options); strings.Contains(out, "GitHub shows") {
		t.Errorf("the limit is mentioned: %s", out)
	}
}

func TestGitHubSaysErrorsFirst(t *testing.T) {
	out := render(t, "github", sample(t), options)
	if strings.LastIndex(out, "::error ") > strings.Index(out, "::warning ") || strings.LastIndex(out, "::warning ") > strings.Index(out, "::notice ") {
		t.Errorf("errors must come first: %s", out)
	}
}
