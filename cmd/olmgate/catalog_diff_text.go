package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olmgate/olmgate/catalog/diff"
)

// marks and colours of changes.
var (
	marks = map[diff.Change]string{diff.Added: "+", diff.Removed: "-", diff.Changed: "~"}
	hues  = map[diff.Change]string{diff.Added: green, diff.Removed: red, diff.Changed: yellow}
)

func diffText(w io.Writer, r diffReport) error {
	s := newScreen(w)
	for i := range r.Catalogs {
		c := &r.Catalogs[i]
		indent := 0
		if c.Name != "" {
			s.change(0, c.Change, "catalog "+c.Name)
			indent = 2
		}
		for _, f := range c.Fields {
			s.change(indent, diff.Changed, f.Field+" "+fromTo(f.Values))
		}
		for j := range c.Packages {
			s.packageDiff(indent, &c.Packages[j])
		}
	}
	s.line(summaryText(&r))
	return s.err
}

// change writes one line of a difference.
func (s *screen) change(indent int, what diff.Change, text string) {
	s.line(strings.Repeat(" ", indent), s.paint(hues[what], marks[what]+" "+oneLine(text)))
}

func (s *screen) packageDiff(indent int, p *diff.Package) {
	text := "package " + p.Name
	if p.Change != diff.Changed {
		s.change(indent, p.Change, fmt.Sprintf("%s (%s, %s)", text, countOf(len(p.Channels), "channel", "channels"), countOf(len(p.Bundles), "bundle", "bundles")))
		return
	}
	s.change(indent, p.Change, text)
	indent += 2
	if p.DefaultChannel != nil {
		s.change(indent, diff.Changed, "default channel "+fromTo(*p.DefaultChannel))
	}
	for i := range p.Deprecations {
		s.change(indent, p.Deprecations[i].Change, deprecationDiffText(&p.Deprecations[i]))
	}
	for i := range p.Channels {
		s.channelDiff(indent, &p.Channels[i])
	}
	for i := range p.Bundles {
		s.change(indent, p.Bundles[i].Change, bundleDiffText(&p.Bundles[i]))
	}
}

func (s *screen) channelDiff(indent int, c *diff.Channel) {
	text := "channel " + c.Name
	if c.Change != diff.Changed {
		s.change(indent, c.Change, fmt.Sprintf("%s (%s)", text, countOf(len(c.Entries), "entry", "entries")))
		return
	}
	s.change(indent, c.Change, text)
	for i := range c.Entries {
		s.change(indent+2, c.Entries[i].Change, entryDiffText(&c.Entries[i]))
	}
}

func entryDiffText(e *diff.Entry) string {
	return e.Name + details(e.Change, valueText(e.Change, "replaces", e.Replaces), listText(e.Change, "skips", e.Skips), valueText(e.Change, "skipRange", e.SkipRange))
}

func bundleDiffText(b *diff.Bundle) string {
	text := "bundle " + b.Name
	if b.Change != diff.Changed {
		// The version says what it is; the rest is in JSON and YAML.
		return text + details(b.Change, valueText(b.Change, "version", b.Version))
	}
	return text + details(b.Change, valueText(b.Change, "version", b.Version), valueText(b.Change, "image", b.Image),
		listText(b.Change, "install modes", b.InstallModes), listText(b.Change, "APIs", b.GVKs), listText(b.Change, "dependencies", b.Dependencies))
}

func deprecationDiffText(d *diff.Deprecation) string {
	what := strings.TrimSpace(strings.ToLower(d.Scope) + " " + d.Name)
	switch d.Change {
	case diff.Added:
		return strings.TrimSuffix(what+" is deprecated: "+d.Message.New, ": ")
	case diff.Removed:
		return what + " is no longer deprecated"
	}
	return what + " is deprecated: " + fromTo(d.Message)
}

// details are joined behind a name; an empty one is left out.
func details(change diff.Change, list ...string) string {
	text := ""
	for _, d := range list {
		switch {
		case d == "":
		case text == "" && change != diff.Changed:
			text = " (" + d
		case text == "":
			text = ": " + d
		default:
			text += "; " + d
		}
	}
	if strings.HasPrefix(text, " (") {
		text += ")"
	}
	return text
}

// valueText shows a value of something that came or went as it is.
func valueText(change diff.Change, name string, v *diff.Values) string {
	switch {
	case v == nil:
		return ""
	case change != diff.Changed:
		return name + " " + v.Old + v.New
	}
	return name + " " + fromTo(*v)
}

func fromTo(v diff.Values) string {
	show := func(s string) string {
		if s == "" {
			return "none"
		}
		return s
	}
	return show(v.Old) + " -> " + show(v.New)
}

// listText shows the list of something that came or went as it is.
func listText(change diff.Change, name string, l *diff.Lists) string {
	switch {
	case l == nil:
		return ""
	case change != diff.Changed:
		return name + " " + strings.Join(append(l.Added, l.Removed...), " ")
	}
	var parts []string
	for _, s := range l.Added {
		parts = append(parts, "+"+s)
	}
	for _, s := range l.Removed {
		parts = append(parts, "-"+s)
	}
	return name + " " + strings.Join(parts, " ")
}

// countOf is a number of things, such as "1 entry" and "2 entries".
func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// summaryText is the last line.
func summaryText(r *diffReport) string {
	if len(r.Catalogs) == 0 {
		return "no difference"
	}
	var parts []string
	named := slices.ContainsFunc(r.Catalogs, func(c catalogDiff) bool { return c.Name != "" })
	for _, c := range []struct {
		name string
		diff.Count
	}{
		{"catalogs", r.Summary.Catalogs}, {"packages", r.Summary.Packages}, {"channels", r.Summary.Channels}, {"bundles", r.Summary.Bundles}, {"deprecations", r.Summary.Deprecations},
	} {
		if c.Count != (diff.Count{}) && (c.name != "catalogs" || named) {
			parts = append(parts, c.name+": "+countText(c.Count))
		}
	}
	return strings.Join(parts, "; ")
}

func countText(c diff.Count) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.Added, "came"}, {c.Removed, "went"}, {c.Changed, "changed"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}
