package report

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shownText is text as it may be shown: without control characters and without marks that turn the direction of
// writing. Line breaks stay.
func shownText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r != '\n' && !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// shownShort is a line of at most n characters.
func shownShort(s string, n int) string {
	s = Clean(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// shownPlace is file:line:column, as far as it is known.
func shownPlace(l Location) string {
	text := Clean(l.File)
	if l.Line > 0 {
		text += fmt.Sprintf(":%d", l.Line)
		if l.Column > 0 {
			text += fmt.Sprintf(":%d", l.Column)
		}
	}
	return text
}

// shownSubject is the object that a finding is about, "" for none.
func shownSubject(f *Finding) string { return strings.TrimSpace(Clean(f.Kind + " " + f.Name)) }

// shownDetails are the lines about a finding below its message. All formats have the same.
func shownDetails(f *Finding) []string {
	lines := []string{"at: " + shownPlace(f.Location)}
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, label+": "+text)
		}
	}
	add("object", shownSubject(f))
	add("field", Clean(f.Field))
	for _, fix := range f.Fixes {
		add("fix", Clean(fix.Message))
	}
	if f.Accepted != nil {
		add("accepted", shownAccepted(f.Accepted))
	}
	add("docs", f.Docs)
	return lines
}

// shownAccepted says why a finding does not count, and until when.
func shownAccepted(a *Acceptance) string {
	why := Clean(a.Why)
	if why == "" {
		why = "no reason given"
	}
	if a.Expires != "" {
		why += " (until " + Clean(a.Expires) + ")"
	}
	return why
}

// shownFindings says in a line what was found.
func shownFindings(r *Report) string {
	var parts []string
	for _, c := range []struct {
		n    int
		text string
	}{
		{r.Summary.Errors, count(r.Summary.Errors, "error")},
		{r.Summary.Warnings, count(r.Summary.Warnings, "warning")},
		{r.Summary.Undecided, fmt.Sprintf("%d undecided", r.Summary.Undecided)},
	} {
		if c.n > 0 {
			parts = append(parts, c.text)
		}
	}
	text := strings.Join(parts, ", ")
	if text == "" {
		text = "no findings"
		if r.nothing() {
			text = "nothing to check"
		}
	}
	if r.Summary.Accepted > 0 {
		text += fmt.Sprintf(" (%d accepted)", r.Summary.Accepted)
	}
	return text
}

// nothing reports whether there was neither a ClusterExtension nor a ClusterCatalog, nor anything to say.
func (r *Report) nothing() bool {
	return r.Summary.Extensions == 0 && r.Summary.Catalogs == 0 && len(r.Findings) == 0 && len(r.Accepted) == 0
}

// shownScope says in a sentence what was looked at.
func shownScope(r *Report) string {
	in := count(r.Summary.Files, "file") + " with " + count(r.Summary.Objects, "object")
	if r.nothing() {
		return "No ClusterExtension or ClusterCatalog was found in " + in + "."
	}
	return count(r.Summary.Extensions, "ClusterExtension") + " and " + count(r.Summary.Catalogs, "ClusterCatalog") + " in " + in + "."
}

// shownPlan counts the changes of a plan in a line.
func shownPlan(p *Plan) string {
	var parts []string
	for _, c := range []struct {
		n    int
		text string
	}{
		{p.Summary.Broken, "to break"}, {p.Summary.Changed, "to change"}, {p.Summary.Added, "to add"}, {p.Summary.Removed, "to remove"},
		{p.Summary.Unchanged, "unchanged"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.text))
		}
	}
	if len(parts) == 0 {
		return "no extensions"
	}
	return strings.Join(parts, ", ")
}

// shownSide is what an extension resolves to on one side of a change, "" on the side where it is not.
func shownSide(s *Side) string {
	if s == nil {
		return ""
	}
	return Clean(SideText(s))
}

// shownNotes says in a line what else there is to know about a change.
func shownNotes(c *Change) string {
	var parts []string
	if c.Before != nil && c.After != nil && c.Before.Catalog != c.After.Catalog && c.Before.Catalog != "" && c.After.Catalog != "" {
		parts = append(parts, "catalog "+Clean(c.Before.Catalog)+" → "+Clean(c.After.Catalog))
	} else if c.After != nil && c.After.Catalog != "" {
		parts = append(parts, "catalog "+Clean(c.After.Catalog))
	}
	switch moved := c.Before != nil && c.Before.Bundle != nil && c.After != nil && c.After.Bundle != nil; {
	case moved && c.Hops == nil:
		parts = append(parts, "no upgrade path")
	case moved && *c.Hops > 0:
		parts = append(parts, count(*c.Hops, "upgrade"))
	}
	if !c.Touched && c.After != nil {
		parts = append(parts, "by a change of catalogs")
	}
	if c.Mark == Broken && c.After != nil {
		parts = append(parts, Clean(c.After.Message))
	}
	for _, n := range c.Notes {
		parts = append(parts, string(n.Reason))
	}
	return strings.Join(parts, "; ")
}

// repositoryPath is a file as services for code know it: relative to the top, without a leading "./".
func repositoryPath(file string) string {
	if file == "" {
		return ""
	}
	return path.Clean(Clean(file))
}

// repositoryURI is a path as a URI reference, and whether it is relative.
func repositoryURI(file string) (uri string, relative bool) {
	file = repositoryPath(file)
	if path.IsAbs(file) {
		return (&url.URL{Scheme: "file", Path: file}).String(), false
	}
	if file == "" {
		file = "."
	}
	return (&url.URL{Path: file}).String(), true
}
