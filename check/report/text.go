package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/olmgate/olmgate/resolver"
)

func init() { Register("text", writeText) }

// Colours by number of the ANSI escape.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// page writes text for people.
type page struct {
	w *bufio.Writer
	o Options
}

func writeText(w io.Writer, r *Report, o Options) error {
	p := &page{bufio.NewWriter(w), o}
	for i := range r.Findings {
		p.finding(&r.Findings[i])
	}
	if len(r.Findings) > 0 && r.Plan != nil {
		p.line("")
	}
	if r.Plan != nil {
		p.plan(r.Plan)
	}
	for _, n := range r.Notices {
		p.wrapped("", "note: ", dim, n)
	}
	if len(r.Findings) > 0 || r.Plan != nil || len(r.Notices) > 0 {
		p.line("")
	}
	if r.Plan != nil {
		p.line(SummaryLine(&r.Summary))
		p.line(PlanLine(r.Plan))
	} else {
		p.line(SummaryLine(&r.Summary))
	}
	return p.w.Flush()
}

func (p *page) paint(colour, text string) string {
	if !p.o.Colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func (p *page) line(text string) {
	_, _ = p.w.WriteString(strings.TrimRight(text, " ") + "\n") // Flush has the error
}

// finding writes one finding: where, what, and what to do about it.
func (p *page) finding(f *Finding) {
	colour := yellow
	if f.Level == Error {
		colour = red
	}
	file := f.File
	if strings.HasPrefix(file, "::") {
		file = "./" + file // GitHub would take such a line for a command
	}
	where := fmt.Sprintf("%s:%d", file, f.Line)
	if f.Column > 0 {
		where += fmt.Sprintf(":%d", f.Column)
	}
	head := p.paint(bold, Clean(where)) + "  " + p.paint(colour, string(f.Level)) + "  " + p.paint(colour, Clean(f.Rule))
	if f.Name != "" {
		head += "  " + Clean(f.Kind+"/"+f.Name)
	}
	p.line(head)
	p.wrapped(indent, "", "", f.Message)
	if f.Field != "" {
		p.wrapped(indent, "field: ", dim, f.Field)
	}
	for _, fix := range f.Fixes {
		p.wrapped(indent, "fix: ", green, fix.Message)
	}
}

// indent is how far what belongs to a finding is moved in.
const indent = "    "

// wrapped writes a paragraph behind a label.
func (p *page) wrapped(indent, label, colour, text string) {
	first, rest := indent+p.paint(colour, label), indent+strings.Repeat(" ", len(label))
	if colour == "" {
		first = indent + label
	}
	for _, l := range wrap(Clean(text), p.o.Width-len(rest)) {
		p.line(first + l)
		first = rest
	}
}

// wrap breaks text at spaces; a width below 20 does not break.
func wrap(text string, width int) []string {
	if width < 20 {
		return []string{text}
	}
	var lines []string
	now := ""
	for _, word := range strings.Fields(text) {
		if now != "" && utf8.RuneCountInString(now)+1+utf8.RuneCountInString(word) > width {
			lines, now = append(lines, now), ""
		}
		if now != "" {
			now += " "
		}
		now += word
	}
	return append(lines, now)
}

// plan writes what changes.
func (p *page) plan(plan *Plan) {
	p.line(p.paint(bold, "plan against "+Clean(plan.Base)))
	for _, c := range plan.Catalogs {
		text := "ClusterCatalog " + c.Name
		if len(c.What) > 0 {
			text += ": " + strings.Join(c.What, ", ")
		}
		p.line("  " + p.mark(c.Mark) + " " + Clean(text))
	}
	width := 0
	for i := range plan.Changes {
		width = max(width, utf8.RuneCountInString(Clean(plan.Changes[i].Extension)))
	}
	for i := range plan.Changes {
		c := &plan.Changes[i]
		name := Clean(c.Extension)
		name += strings.Repeat(" ", width-utf8.RuneCountInString(name))
		p.line("  " + p.mark(c.Mark) + " " + name + "  " + Clean(ChangeText(c)))
	}
	if len(plan.Changes) == 0 {
		p.line("  no extension resolves to anything else")
	}
}

func (p *page) mark(m Mark) string {
	switch m {
	case Broken:
		return p.paint(red, string(m))
	case Added:
		return p.paint(green, string(m))
	}
	return p.paint(yellow, string(m))
}

// ChangeText says in a line what a change is, without its mark and name.
func ChangeText(c *Change) string {
	text := ""
	switch {
	case c.Before != nil && c.After != nil:
		text = SideText(c.Before) + " -> " + SideText(c.After)
	case c.After != nil:
		text = SideText(c.After)
	case c.Before != nil:
		text = "gone; it was " + SideText(c.Before)
	}
	var more []string
	if after := c.After; after != nil && after.Bundle != nil {
		from := "from " + after.Catalog
		if c.Before != nil && c.Before.Bundle != nil && c.Before.Catalog != after.Catalog {
			from = "from " + after.Catalog + ", before from " + c.Before.Catalog
		}
		more = append(more, from)
	}
	switch {
	case c.Hops != nil && *c.Hops == 1:
		more = append(more, "1 upgrade")
	case c.Hops != nil && *c.Hops > 1:
		more = append(more, fmt.Sprintf("%d upgrades", *c.Hops))
	case c.Hops == nil && c.Before != nil && c.Before.Bundle != nil && c.After != nil && c.After.Bundle != nil:
		more = append(more, "no upgrade path")
	}
	for _, n := range c.Notes {
		more = append(more, string(n.Reason))
	}
	if !c.Touched && c.After != nil {
		more = append(more, "by a change of catalogs")
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, "; ") + ")"
	}
	return text
}

// SideText is what an extension resolves to in a word.
func SideText(s *Side) string {
	if s.Outcome != resolver.OutcomeResolved || s.Bundle == nil {
		if s.Reason == "" {
			return string(s.Outcome)
		}
		return string(s.Reason)
	}
	if s.Bundle.Release != "" {
		return s.Bundle.Version + " release " + s.Bundle.Release
	}
	return s.Bundle.Version
}

// SummaryLine says what was looked at and found.
func SummaryLine(s *Summary) string {
	text := fmt.Sprintf("%s, %s", count(s.Extensions, "extension"), count(s.Catalogs, "catalog"))
	text += " in " + count(s.Files, "file")
	if s.Resolved+s.Failed+s.NotDecided > 0 {
		text += fmt.Sprintf(": %d resolved, %d failed, %d undecided", s.Resolved, s.Failed, s.NotDecided)
	}
	text += fmt.Sprintf("; %s, %s", count(s.Errors, "error"), count(s.Warnings, "warning"))
	if s.Undecided > 0 {
		text += fmt.Sprintf(", %d undecided", s.Undecided)
	}
	if s.Accepted > 0 {
		text += fmt.Sprintf(", %d accepted", s.Accepted)
	}
	return text
}

// PlanLine counts the changes of a plan.
func PlanLine(p *Plan) string {
	s := p.Summary
	return fmt.Sprintf("plan: %d to add, %d to change, %d to remove, %d broken, %d unchanged", s.Added, s.Changed, s.Removed, s.Broken, s.Unchanged)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Clean makes text one printable line: it comes from files and catalogs, and a terminal must not take it for commands.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
}
