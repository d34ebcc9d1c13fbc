package report

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

func init() { Register("sarif", writeSARIF) }

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	// sarifRoot names the top of the repository; readers know where it is.
	sarifRoot = "%SRCROOT%"
	// sarifFingerprint has a version, so that another way to make fingerprints does not match the old ones by chance.
	sarifFingerprint = "olmgate/v1"
	homePage         = "https://github.com/olmgate/olmgate"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool            `json:"tool"`
	Invocations []sarifInvocation    `json:"invocations"`
	Details     sarifAutomation      `json:"automationDetails"`
	Bases       map[string]sarifBase `json:"originalUriBaseIds"`
	Artifacts   []sarifArtifact      `json:"artifacts"`
	ColumnKind  string               `json:"columnKind"`
	Results     []sarifResult        `json:"results"`
	Properties  map[string]any       `json:"properties,omitempty"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Short    sarifText         `json:"shortDescription"`
	Full     sarifText         `json:"fullDescription"`
	Help     sarifText         `json:"help"`
	HelpURI  string            `json:"helpUri"`
	Defaults sarifRuleDefaults `json:"defaultConfiguration"`
}

type sarifRuleDefaults struct {
	Level string `json:"level"`
}

type sarifText struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	End           string              `json:"endTimeUtc,omitempty"`
	Notifications []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifAutomation struct {
	ID string `json:"id"`
}

type sarifBase struct {
	Description sarifText `json:"description"`
}

type sarifArtifact struct {
	Location sarifPlace `json:"location"`
}

type sarifPlace struct {
	URI       string `json:"uri"`
	URIBaseID string `json:"uriBaseId,omitempty"`
	Index     *int   `json:"index,omitempty"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions []sarifSuppression `json:"suppressions"`
	Properties   sarifProperties    `json:"properties"`
}

type sarifLocation struct {
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifPlace   `json:"artifactLocation"`
	Region   *sarifRegion `json:"region,omitempty"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndLine     int `json:"endLine,omitempty"`
	EndColumn   int `json:"endColumn,omitempty"`
}

type sarifLogical struct {
	Name string `json:"name,omitempty"`
	Full string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

type sarifSuppression struct {
	Kind          string            `json:"kind"`
	Status        string            `json:"status"`
	Justification string            `json:"justification"`
	Properties    map[string]string `json:"properties,omitempty"`
}

// sarifProperties are what SARIF has no place for. Each fix is a field and a value; SARIF's own fixes are changes of
// text, and where the text of a value ends is not known.
type sarifProperties struct {
	Object string `json:"object"`
	Field  string `json:"field"`
	Fixes  []Fix  `json:"fixes"`
}

func writeSARIF(w io.Writer, r *Report, o Options) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{newSARIF(r, o)}})
}

func newSARIF(r *Report, o Options) sarifRun {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "olmgate", Version: o.Version, InformationURI: homePage, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{newSARIFInvocation(r, o)},
		Details:     sarifAutomation{"olmgate-check/"},
		Bases:       map[string]sarifBase{sarifRoot: {sarifText{Text: "The top of the repository"}}},
		Artifacts:   []sarifArtifact{}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
		Properties: map[string]any{"summary": r.Summary},
	}
	rules := sarifRules(r)
	for _, rule := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, newSARIFRule(rule))
	}
	files := map[string]int{}
	for _, list := range [][]Finding{r.Findings, r.Accepted} {
		for i := range list {
			f := &list[i]
			at, known := files[f.File]
			if !known {
				at = len(run.Artifacts)
				files[f.File] = at
				run.Artifacts = append(run.Artifacts, sarifArtifact{newSARIFPlace(f.File)})
			}
			rule := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == f.Rule })
			run.Results = append(run.Results, newSARIFResult(f, rule, at))
		}
	}
	return run
}

// sarifRules are the rules of the findings, in the order of Rules. A rule without a page there comes last.
func sarifRules(r *Report) []Rule {
	used := map[string]Rule{}
	for _, list := range [][]Finding{r.Findings, r.Accepted} {
		for i := range list {
			f := &list[i]
			used[f.Rule] = Rule{f.Rule, f.Rule, f.Level, f.Docs}
		}
	}
	var rules []Rule
	for _, rule := range Rules() {
		if _, there := used[rule.Name]; there {
			rules = append(rules, rule)
			delete(used, rule.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		rules = append(rules, used[name])
	}
	return rules
}

func newSARIFRule(r Rule) sarifRule {
	text := sarifText{Text: r.Summary + "."}
	return sarifRule{
		ID: r.Name, Name: r.Name, Short: text, Full: text, HelpURI: r.Docs,
		Help:     sarifText{Text: r.Summary + ". What to do: " + r.Docs, Markdown: r.Summary + ". [What to do](" + r.Docs + ")"},
		Defaults: sarifRuleDefaults{sarifLevel(r.Level)},
	}
}

func sarifLevel(l Level) string {
	switch l {
	case Error:
		return "error"
	case Warning:
		return "warning"
	}
	return "note"
}

// newSARIFInvocation says how the run went: without success when a file could not be read.
func newSARIFInvocation(r *Report, o Options) sarifInvocation {
	v := sarifInvocation{Successful: true, Notifications: []sarifNotification{}}
	if !o.Now.IsZero() {
		v.End = o.Now.UTC().Format(time.RFC3339)
	}
	for i := range r.Findings {
		v.Successful = v.Successful && r.Findings[i].Rule != UnreadableInput
	}
	for _, n := range append(slices.Clone(r.Notices), "Found: "+shownFindings(r)+". "+shownScope(r)) {
		v.Notifications = append(v.Notifications, sarifNotification{"note", sarifText{Text: shownText(n)}})
	}
	return v
}

func newSARIFPlace(file string) sarifPlace {
	uri, relative := repositoryURI(file)
	p := sarifPlace{URI: uri}
	if relative {
		p.URIBaseID = sarifRoot
	}
	return p
}

func newSARIFResult(f *Finding, rule, artifact int) sarifResult {
	s := sarifResult{
		RuleID: f.Rule, RuleIndex: rule, Level: sarifLevel(f.Level), Message: sarifText{Text: sarifMessage(f)},
		Locations:    []sarifLocation{newSARIFLocation(f, artifact)},
		Fingerprints: map[string]string{sarifFingerprint: f.Fingerprint},
		Suppressions: []sarifSuppression{},
		Properties:   sarifProperties{shownSubject(f), Clean(f.Field), f.Fixes},
	}
	if s.Properties.Fixes == nil {
		s.Properties.Fixes = []Fix{}
	}
	if a := f.Accepted; a != nil {
		suppression := sarifSuppression{Kind: "external", Status: "accepted", Justification: shownAccepted(a)}
		if a.Expires != "" {
			suppression.Properties = map[string]string{"expires": a.Expires}
		}
		s.Suppressions = append(s.Suppressions, suppression)
	}
	return s
}

// sarifMessage is the message with the fixes. Square brackets before a parenthesis would make a link.
func sarifMessage(f *Finding) string {
	text := shownText(f.Message)
	for _, fix := range f.Fixes {
		text += "\nFix: " + Clean(fix.Message)
	}
	return strings.ReplaceAll(text, "](", "] (")
}

func newSARIFLocation(f *Finding, artifact int) sarifLocation {
	l := sarifLocation{Physical: sarifPhysical{Artifact: newSARIFPlace(f.File)}}
	l.Physical.Artifact.Index = &artifact
	if f.Line > 0 {
		l.Physical.Region = &sarifRegion{StartLine: f.Line, StartColumn: f.Column}
		if f.Column > 0 && f.EndLine >= f.Line && f.EndColumn > 0 {
			l.Physical.Region.EndLine, l.Physical.Region.EndColumn = f.EndLine, f.EndColumn
		}
	}
	if full := strings.TrimSpace(shownSubject(f) + " " + Clean(f.Field)); full != "" {
		l.Logical = []sarifLogical{{Name: Clean(f.Name), Full: full, Kind: "member"}}
	}
	return l
}
