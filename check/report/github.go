package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

func init() { Register("github", writeGitHub) }

// githubLimit is how many annotations of one level GitHub keeps for a step. Those beyond are lines of the log only.
const githubLimit = 10

// writeGitHub writes workflow commands, which the runner makes annotations of, the worst first since the first ten of a
// level count. What the baseline accepts is not annotated.
func writeGitHub(w io.Writer, r *Report, _ Options) error {
	var b bytes.Buffer
	counts := map[string]int{}
	for _, level := range []Level{Error, Warning, Undecided} {
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Level == level {
				b.WriteString(githubFinding(f))
				counts[githubCommand(level)]++
			}
		}
	}
	for _, n := range r.Notices {
		b.WriteString("::notice title=olmgate check::" + githubData(shownText(n)) + "\n")
		counts["notice"]++
	}
	for _, command := range []string{"error", "warning", "notice"} {
		if n := counts[command]; n > githubLimit {
			fmt.Fprintf(&b, "olmgate check: GitHub shows %d of %s as annotations, the others only here.\n", githubLimit, count(n, command))
		}
	}
	if r.Plan != nil {
		githubPlan(&b, r.Plan)
	}
	fmt.Fprintf(&b, "olmgate check: %s. %s\n", shownFindings(r), shownScope(r))
	_, err := w.Write(b.Bytes())
	return err
}

func githubCommand(l Level) string {
	switch l {
	case Error:
		return "error"
	case Warning:
		return "warning"
	}
	return "notice"
}

func githubFinding(f *Finding) string {
	properties := []string{"file=" + githubProperty(repositoryPath(f.File))}
	number := func(name string, n int) {
		if n > 0 {
			properties = append(properties, fmt.Sprintf("%s=%d", name, n))
		}
	}
	number("line", f.Line)
	number("endLine", f.EndLine)
	if f.Line > 0 && f.EndLine == f.Line {
		number("col", f.Column)
		number("endColumn", f.EndColumn)
	}
	title := f.Rule
	if s := shownSubject(f); s != "" {
		title += " - " + s
	}
	properties = append(properties, "title="+githubProperty(title))
	text := shownText(f.Message) + "\n\n" + strings.Join(shownDetails(f), "\n")
	return "::" + githubCommand(f.Level) + " " + strings.Join(properties, ",") + "::" + githubData(text) + "\n"
}

// githubData is text after the second pair of colons.
func githubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// githubProperty is the value of a property.
func githubProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(Clean(s))
}

// githubPlan folds the changes into a group of the log.
func githubPlan(b *bytes.Buffer, p *Plan) {
	b.WriteString("::group::Plan against " + githubData(Clean(p.Base)) + ": " + shownPlan(p) + "\n")
	line := func(mark Mark, text string) { b.WriteString(string(mark) + " " + githubLog(text) + "\n") }
	for i := range p.Changes {
		c := &p.Changes[i]
		text := Clean(c.Extension) + "  " + Clean(ChangeText(c))
		if c.Mark == Broken && c.After != nil {
			text += ": " + Clean(c.After.Message)
		}
		line(c.Mark, text)
	}
	for _, c := range p.Catalogs {
		line(c.Mark, "ClusterCatalog "+Clean(c.Name)+": "+Clean(strings.Join(c.What, ", ")))
	}
	b.WriteString("::endgroup::\n")
}

// githubLog is text in a line of the log, where the runner looks for commands of its old form anywhere.
func githubLog(s string) string { return strings.ReplaceAll(s, "##[", "## [") }
