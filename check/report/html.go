package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

func init() { Register("html", writeHTML) }

var (
	//go:embed html.css
	htmlStyle string
	//go:embed html.tmpl
	htmlText string
	htmlPage = template.Must(template.New("page").Funcs(template.FuncMap{"breaks": htmlBreaks}).Parse(htmlText))
)

const (
	// htmlGraphs is how many graphs a page draws, and htmlGroupGraphs how many for one extension.
	htmlGraphs      = 100
	htmlGroupGraphs = 3
	// htmlRows is how many bundles the tables of a page list together; after that only those that are drawn.
	htmlRows = 10_000
)

// htmlReport is what the template gets. All text is escaped there.
type htmlReport struct {
	Style          template.CSS
	StyleHash      string
	Class, Sign    string
	Result, Scope  string
	Sections       []htmlSection
	Groups         []htmlGroup
	Plan           *htmlPlan
	Accepted       []htmlFinding
	Extensions     []htmlExtension
	ExtensionCount string
	Open           bool
	Notices        []string
	Version, Time  string
}

type htmlSection struct{ ID, Title string }

// htmlGroup are the findings about one object, with its graphs.
type htmlGroup struct {
	Title, Says, NotDrawn string
	Findings              []htmlFinding
	Graphs                []htmlGraph

	ext   *Extension
	worst int
}

type htmlFinding struct {
	Level, Sign, Rule, Where, Subject, Field, Message, Accepted, Docs string
	Fixes                                                             []string
}

type htmlPlan struct {
	Base, Summary     string
	Changes, Catalogs []htmlChange
}

type htmlChange struct{ Mark, Class, Word, Extension, Before, After, Notes string }

type htmlExtension struct{ Name, To, Catalog, From, Where string }

func writeHTML(w io.Writer, r *Report, o Options) error {
	return htmlPage.Execute(w, newHTML(r, o))
}

func newHTML(r *Report, o Options) *htmlReport {
	sum := sha256.Sum256([]byte(htmlStyle))
	h := &htmlReport{
		Style: template.CSS(htmlStyle), StyleHash: base64.StdEncoding.EncodeToString(sum[:]), //nolint:gosec // a constant of this package
		Result: shownFindings(r), Scope: shownScope(r), Version: Clean(o.Version),
	}
	h.Class, h.Sign = htmlVerdict(r)
	if !o.Now.IsZero() {
		h.Time = o.Now.UTC().Format(time.RFC3339)
	}
	h.Groups = htmlGroups(r.Findings)
	if r.Plan != nil {
		h.Plan = newHTMLPlan(r.Plan)
	}
	for i := range r.Accepted {
		h.Accepted = append(h.Accepted, newHTMLFinding(&r.Accepted[i]))
	}
	for _, e := range r.Extensions {
		h.Extensions = append(h.Extensions, newHTMLExtension(e))
	}
	h.ExtensionCount = count(len(r.Extensions), "ClusterExtension")
	h.Open = len(r.Extensions) <= 10
	for _, n := range r.Notices {
		h.Notices = append(h.Notices, shownText(n))
	}
	h.sections()
	return h
}

// htmlBreak is a place where a long path may go on in the next line: before a dot and a letter, and behind a slash.
var htmlBreak = regexp.MustCompile(`\pL\.\pL|/`)

// htmlBreaks splits text where it may be broken.
func htmlBreaks(s string) []string {
	var parts []string
	for {
		at := htmlBreak.FindStringIndex(s)
		if at == nil {
			return append(parts, s)
		}
		end := at[1]
		if s[at[0]] != '/' {
			_, size := utf8.DecodeLastRuneInString(s[:end])
			end -= size + 1
		}
		parts, s = append(parts, s[:end]), s[end:]
	}
}

func htmlVerdict(r *Report) (class, sign string) {
	switch {
	case r.Summary.Errors > 0:
		return "bad", "✗"
	case r.Summary.Warnings > 0 || r.Summary.Undecided > 0 || r.nothing():
		return "warn", "!"
	}
	return "good", "✓"
}

func (h *htmlReport) sections() {
	add := func(there bool, id, title string) {
		if there {
			h.Sections = append(h.Sections, htmlSection{id, title})
		}
	}
	add(len(h.Groups) > 0, "findings", "Findings")
	add(h.Plan != nil, "plan", "Plan")
	add(len(h.Accepted) > 0, "accepted", "Accepted")
	add(len(h.Extensions) > 0, "extensions", "Extensions")
	add(len(h.Notices) > 0, "notices", "About this run")
}

// htmlGroups puts the findings about one object together: the objects with errors first, then in the order in which they
// come.
func htmlGroups(list []Finding) []htmlGroup {
	type key struct {
		ext                    *Extension
		file, kind, name, rest string
	}
	var groups []htmlGroup
	at := map[key]int{}
	for i := range list {
		f := &list[i]
		k := key{ext: f.Extension}
		if k.ext == nil {
			k = key{nil, f.File, f.Kind, f.Name, fmt.Sprint(f.Document)}
		}
		n, known := at[k]
		if !known {
			n = len(groups)
			at[k] = n
			groups = append(groups, newHTMLGroup(f))
		}
		groups[n].worst = min(groups[n].worst, rank(f.Level))
		finding := newHTMLFinding(f)
		finding.Subject = "" // it is the title
		groups[n].Findings = append(groups[n].Findings, finding)
	}
	slices.SortStableFunc(groups, func(a, b htmlGroup) int { return a.worst - b.worst })
	draw := &htmlDrawer{rows: htmlRows}
	for i := range groups {
		slices.SortStableFunc(groups[i].Findings, func(a, b htmlFinding) int { return rank(Level(a.Level)) - rank(Level(b.Level)) })
		draw.draw(&groups[i], groups[i].ext)
	}
	return groups
}

func newHTMLGroup(f *Finding) htmlGroup {
	g := htmlGroup{Title: shownSubject(f), ext: f.Extension, worst: rank(f.Level)}
	if g.Title == "" {
		g.Title = Clean(f.File)
	}
	if e := f.Extension; e != nil {
		g.Says = "Package " + Clean(e.Verdict.Package)
		if b := e.Verdict.Bundle; b != nil {
			g.Says += ", " + e.summary()
		}
	}
	return g
}

var htmlSigns = map[Level]string{Error: "✗", Warning: "!", Undecided: "?"}

func newHTMLFinding(f *Finding) htmlFinding {
	h := htmlFinding{
		Level: string(f.Level), Sign: htmlSigns[f.Level], Rule: Clean(f.Rule), Where: shownPlace(f.Location), Subject: shownSubject(f),
		Field: Clean(f.Field), Message: shownText(f.Message), Docs: f.Docs,
	}
	for _, fix := range f.Fixes {
		h.Fixes = append(h.Fixes, Clean(fix.Message))
	}
	if f.Accepted != nil {
		h.Accepted = shownAccepted(f.Accepted)
	}
	return h
}

var (
	htmlClasses = map[Mark]string{Added: "added", Changed: "changed", Removed: "removed", Broken: "broken"}
	htmlWords   = map[Mark]string{Added: "new", Changed: "changes", Removed: "gone", Broken: "breaks"}
)

func newHTMLPlan(p *Plan) *htmlPlan {
	h := &htmlPlan{Base: Clean(p.Base), Summary: "In short: " + shownPlan(p) + "."}
	for i := range p.Changes {
		c := &p.Changes[i]
		h.Changes = append(h.Changes, htmlChange{
			Mark: string(c.Mark), Class: htmlClasses[c.Mark], Word: htmlWords[c.Mark], Extension: Clean(c.Extension),
			Before: shownSide(c.Before), After: shownSide(c.After), Notes: shownNotes(c),
		})
	}
	for _, c := range p.Catalogs {
		h.Catalogs = append(h.Catalogs, htmlChange{
			Mark: string(c.Mark), Class: htmlClasses[c.Mark], Word: htmlWords[c.Mark], Extension: Clean(c.Name), Notes: Clean(strings.Join(c.What, "; ")),
		})
	}
	return h
}

func newHTMLExtension(e *Extension) htmlExtension {
	v := &e.Verdict
	h := htmlExtension{Name: Clean(v.Extension), Catalog: Clean(v.Catalog), Where: shownPlace(e.Location), To: Clean(string(v.Reason))}
	if v.Bundle != nil {
		h.To = Clean(v.Bundle.Name) + " " + Clean(v.Bundle.Version)
	}
	if e.InstalledFrom != "none" {
		h.From = Clean(e.InstalledFrom)
	}
	return h
}
