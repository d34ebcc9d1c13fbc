package report

import (
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"
)

func init() { Register("junit", writeJUnit) }

// The elements and attributes are those that Jenkins' schema knows; GitLab and others read the same.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string         `xml:"name,attr"`
	Tests     int            `xml:"tests,attr"`
	Failures  int            `xml:"failures,attr"`
	Errors    int            `xml:"errors,attr"`
	Skipped   int            `xml:"skipped,attr"`
	Timestamp string         `xml:"timestamp,attr,omitempty"`
	File      string         `xml:"file,attr,omitempty"`
	Cases     []junitCase    `xml:"testcase"`
	Out       string         `xml:"system-out,omitempty"`
	lines     map[string]int `xml:"-"`
}

type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	Failure *junitResult `xml:"failure"`
	Skipped *junitResult `xml:"skipped"`
	Out     string       `xml:"system-out,omitempty"`
}

type junitResult struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func writeJUnit(w io.Writer, r *Report, o Options) error {
	all := junitSuites{Name: "olmgate check", Suites: newJUnit(r, o)}
	for i := range all.Suites {
		s := &all.Suites[i]
		all.Tests += s.Tests
		all.Failures += s.Failures
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// newJUnit makes a suite per file, in the order of the files, and one about the run.
func newJUnit(r *Report, o Options) []junitSuite {
	suites := map[string]*junitSuite{}
	suite := func(file string) *junitSuite {
		if suites[file] == nil {
			suites[file] = &junitSuite{Name: Clean(file), File: Clean(file), lines: map[string]int{}}
			if !o.Now.IsZero() {
				suites[file].Timestamp = o.Now.UTC().Format("2006-01-02T15:04:05")
			}
		}
		return suites[file]
	}
	blamed := map[*Extension]bool{}
	for i := range r.Findings {
		f := &r.Findings[i]
		blamed[f.Extension] = true
		suite(f.File).add(junitFinding(f, o.FailOn))
	}
	for i := range r.Accepted {
		f := &r.Accepted[i]
		suite(f.File).add(junitFinding(f, o.FailOn))
	}
	for _, e := range r.Extensions {
		if !blamed[e] {
			suite(e.File).add(junitCase{Name: "ClusterExtension " + Clean(e.Verdict.Extension), Class: Clean(e.File), Out: e.summary()})
		}
	}
	var list []junitSuite
	for _, s := range suites {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b junitSuite) int { return strings.Compare(a.File, b.File) })
	return append(list, junitRun(r))
}

// add counts a case. Cases of one name get a number, since some readers keep only one of each name.
func (s *junitSuite) add(c junitCase) {
	if s.lines[c.Name]++; s.lines[c.Name] > 1 {
		c.Name += " #" + strconv.Itoa(s.lines[c.Name])
	}
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func junitFinding(f *Finding, failOn Level) junitCase {
	c := junitCase{Name: strings.TrimSpace(shownSubject(f) + " " + f.Rule), Class: Clean(f.File)}
	result := &junitResult{
		Type: f.Rule, Message: Clean(f.Message),
		Text: "\n" + shownText(f.Message) + "\n" + strings.Join(shownDetails(f), "\n") + "\n",
	}
	if f.Field != "" {
		c.Name += " " + Clean(f.Field)
	}
	switch {
	case f.Accepted != nil:
		result.Message = "accepted: " + result.Message
		c.Skipped = result
	case f.fails(failOn):
		c.Failure = result
	default:
		result.Message = string(f.Level) + ": " + result.Message
		c.Skipped = result
	}
	return c
}

// fails reports whether a finding makes the check fail. No level means error.
func (f *Finding) fails(on Level) bool {
	if on == "" {
		on = Error
	}
	return f.Accepted == nil && f.Level.AtLeast(on)
}

// summary is what an extension resolves to, in a line.
func (e *Extension) summary() string {
	v := &e.Verdict
	if v.Bundle == nil {
		return Clean(v.Message)
	}
	return "resolves to " + Clean(v.Bundle.Name) + " " + Clean(v.Bundle.Version) + " of catalog " + Clean(v.Catalog)
}

// junitRun is the suite about the run itself, so that there always is one.
func junitRun(r *Report) junitSuite {
	s := junitSuite{Name: "olmgate check", lines: map[string]int{}}
	c := junitCase{Name: "summary", Class: "olmgate check", Out: shownFindings(r) + "\n" + shownScope(r)}
	for _, n := range r.Notices {
		c.Out += "\n" + Clean(n)
	}
	if r.nothing() {
		c.Skipped = &junitResult{Type: "nothing", Message: shownScope(r)}
	}
	if r.Plan != nil {
		c.Out += "\nagainst " + Clean(r.Plan.Base) + ": " + shownPlan(r.Plan)
	}
	s.add(c)
	return s
}
