// Package report holds what a check found, and writes it in each output format. A format is one file that registers
// itself; it renders a Report and adds nothing of its own.
package report

import (
	"encoding/json"
	"time"

	"github.com/olmgate/olmgate/resolver"
)

// Level is how bad a finding is.
type Level string

// The levels, the worst first.
const (
	// Error: the API server or olmgate's webhook would refuse the object, or what the policy denies.
	Error Level = "error"
	// Warning: it would go through, and a person should know something.
	Warning Level = "warning"
	// Undecided: content of a catalog that is not at hand could change the answer.
	Undecided Level = "undecided"
)

// AtLeast reports whether a level is as bad as another, or worse: error before warning before undecided.
func (l Level) AtLeast(other Level) bool { return rank(l) <= rank(other) }

func rank(l Level) int {
	switch l {
	case Error:
		return 0
	case Warning:
		return 1
	}
	return 2
}

// Report is what a check found. Everything is sorted: two runs over the same input are equal byte for byte.
type Report struct {
	// Findings that count, by file, line, column, rule and field.
	Findings []Finding
	// Accepted are the findings that the baseline accepts, in the same order. They do not count.
	Accepted []Finding
	// Extensions are all ClusterExtensions that were judged, by file and line.
	Extensions []*Extension
	// Plan is what changes against the base, nil without a base.
	Plan *Plan
	// Notices are things about the run itself, such as an entry of the baseline that has expired.
	Notices []string
	Summary Summary
}

// Finding is one thing that is wrong, or worth knowing, at one place.
type Finding struct {
	// Rule is a reason of the resolver, or the name of a rule of the schema; see Rules.
	Rule    string `json:"rule"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	// Kind and Name of the object, "" where it has none.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Field is the full path of the field it is about, "" when it is about the whole object.
	Field string `json:"field"`
	Location
	// Fixes are changes of which each helps, none when nobody can tell.
	Fixes []Fix `json:"fixes"`
	// Docs is the address of the page about the rule.
	Docs string `json:"docs"`
	// Fingerprint is the same as long as the rule, file, object and field are: lines may move.
	Fingerprint string `json:"fingerprint"`
	// Accepted says by which entry of the baseline, nil for findings that count.
	Accepted *Acceptance `json:"accepted,omitempty"`
	// Extension is the judged extension that it is about, nil for one that could not be judged and for other kinds.
	Extension *Extension `json:"-"`
}

// Location is the field in the file that a finding blames, or its nearest parent that is there.
type Location struct {
	// File as it was given on the command line or found below a directory, with forward slashes.
	File string `json:"file"`
	// Line and Column count from 1, columns in characters. EndLine and EndColumn are just behind the last character of
	// the key. Column, EndLine and EndColumn are 0 when unknown.
	Line      int `json:"line"`
	Column    int `json:"column"`
	EndLine   int `json:"endLine"`
	EndColumn int `json:"endColumn"`
	// Document counts from 0 within the file.
	Document int `json:"document"`
}

// Fix is one change that would help, ready to paste.
type Fix struct {
	// Field is the full path of the field to set.
	Field string `json:"field"`
	// Value is what to set it to, as JSON; null means to remove it.
	Value   json.RawMessage `json:"value"`
	Message string          `json:"message"`
}

// Acceptance is the entry of the baseline that accepts a finding.
type Acceptance struct {
	// Why is what the entry says about it.
	Why string `json:"why"`
	// Expires is the first day on which it counts again, as 2006-01-02; "" for never.
	Expires string `json:"expires"`
}

// Extension is a judged ClusterExtension.
type Extension struct {
	Verdict resolver.Verdict
	Location
	// InstalledFrom says where the installed state comes from: manifest, cluster, file, base or none.
	InstalledFrom string
	// Graphs are the upgrade graphs of its package: of the selected catalog, or of each that could be meant. They are
	// made when asked for, since few formats draw them. nil for none.
	Graphs func() []resolver.Graph
}

// Plan says what the extensions resolve to before and after a change.
type Plan struct {
	// Base is what is compared with: a revision or a directory.
	Base string `json:"base"`
	// Changes by mark (! first, then ~, + and -), then extension.
	Changes []Change    `json:"changes"`
	Summary PlanSummary `json:"summary"`
	// Catalogs are the ClusterCatalogs of the inputs that differ, by name.
	Catalogs []CatalogChange `json:"catalogs"`
}

// Mark is the sign of a change.
type Mark string

// The marks.
const (
	// Added: the extension is new.
	Added Mark = "+"
	// Changed: it resolves to something else, or to something at last.
	Changed Mark = "~"
	// Removed: it is gone.
	Removed Mark = "-"
	// Broken: it does not resolve, and it is new or did before.
	Broken Mark = "!"
)

// Change is one line of a plan.
type Change struct {
	Mark      Mark   `json:"mark"`
	Extension string `json:"extension"`
	Package   string `json:"package"`
	// Before is nil for an extension that is new, After for one that is gone.
	Before *Side `json:"before,omitempty"`
	After  *Side `json:"after,omitempty"`
	// Hops is how many upgrades lead from the bundle before to the one after, nil when no chain of upgrades does.
	Hops *int `json:"hops,omitempty"`
	// Touched is whether its manifest differs from the base. Otherwise a catalog made the difference.
	Touched bool `json:"touched"`
	// Notes are those that are new with the change.
	Notes []resolver.Note `json:"notes"`
	// Location is where it stands now, nil when it is gone or in none of the files.
	Location *Location `json:"location,omitempty"`
}

// Side is what an extension resolves to on one side of a change.
type Side struct {
	Outcome resolver.Outcome `json:"outcome"`
	Reason  resolver.Reason  `json:"reason"`
	Message string           `json:"message"`
	Catalog string           `json:"catalog"`
	Bundle  *resolver.Bundle `json:"bundle,omitempty"`
}

// CatalogChange is a ClusterCatalog of the inputs that differs from the base.
type CatalogChange struct {
	// Mark is +, ~ or -.
	Mark Mark   `json:"mark"`
	Name string `json:"name"`
	// What says what differs, such as "priority 0 -> 10".
	What []string `json:"what"`
}

// PlanSummary counts the changes.
type PlanSummary struct {
	Added     int `json:"added"`
	Changed   int `json:"changed"`
	Removed   int `json:"removed"`
	Broken    int `json:"broken"`
	Unchanged int `json:"unchanged"`
}

// Summary counts what was looked at and found.
type Summary struct {
	// Files that were read, and Objects in them of any kind.
	Files   int `json:"files"`
	Objects int `json:"objects"`
	// Extensions and Catalogs among them.
	Extensions int `json:"extensions"`
	Catalogs   int `json:"catalogs"`
	// Resolved, Failed and NotDecided count the judged extensions by outcome.
	Resolved   int `json:"resolved"`
	Failed     int `json:"failed"`
	NotDecided int `json:"notDecided"`
	// Errors, Warnings and Undecided count the findings by level, Accepted those of the baseline.
	Errors    int `json:"errors"`
	Warnings  int `json:"warnings"`
	Undecided int `json:"undecided"`
	Accepted  int `json:"accepted"`
}

// Options are what a format may need beside the report.
type Options struct {
	// Colour is whether the output is a terminal that takes colours, Width its width in characters, 0 when it is none.
	Colour bool
	Width  int
	// Version of olmgate.
	Version string
	// Now is the time of the run; the zero value when the output shall not depend on it.
	Now time.Time
	// FailOn is the level from which findings make the check fail.
	FailOn Level
}
