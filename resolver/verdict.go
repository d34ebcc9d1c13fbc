package resolver

import "encoding/json"

// Outcome is what became of a resolution.
type Outcome string

// The outcomes of a verdict.
const (
	// OutcomeResolved: exactly one bundle was chosen.
	OutcomeResolved Outcome = "Resolved"
	// OutcomeFailed: it is certain that nothing can be chosen.
	OutcomeFailed Outcome = "Failed"
	// OutcomeUndecided: content that is not at hand could change the answer.
	OutcomeUndecided Outcome = "Undecided"
)

// Verdict is the answer to what a ClusterExtension resolves to, and why. Its JSON form is the one that every door
// prints; fields are only ever added. Lists are sorted and never nil.
type Verdict struct {
	// Extension is the name of the ClusterExtension.
	Extension string `json:"extension"`
	// Package is spec.source.catalog.packageName.
	Package string  `json:"package"`
	Outcome Outcome `json:"outcome"`
	Reason  Reason  `json:"reason"`
	// Message says in a sentence or two what was found and what to change.
	Message string `json:"message"`
	// Field is the full path of the field to blame, "" when resolved or undecided.
	Field string `json:"field"`
	// Catalog is the selected one, "" when none was selected.
	Catalog string `json:"catalog"`
	// Priority is that of the selected catalog, nil when none was selected.
	Priority *int32 `json:"priority,omitempty"`
	// Bundle is the chosen one, nil unless resolved.
	Bundle *Bundle `json:"bundle,omitempty"`
	// Ambiguous are the tied catalogs of AmbiguousCatalogs, nil otherwise.
	Ambiguous    []TiedCatalog `json:"ambiguous,omitempty"`
	Deprecations []Deprecation `json:"deprecations"`
	Notes        []Note        `json:"notes"`
	Suggestions  []Suggestion  `json:"suggestions"`
	Trace        Trace         `json:"trace"`
	// Update is what is newer than what is installed; Outlook fills it in, Resolve does not.
	Update *Update `json:"update,omitempty"`
	// Location is where the ClusterExtension stands, when it was read from a file.
	Location *Location `json:"location,omitempty"`
}

// Bundle is a bundle that a verdict names.
type Bundle struct {
	Name string `json:"name"`
	// Version of the olm.package property, without the build metadata that was taken as the release.
	Version string `json:"version"`
	// Release is "" when unset.
	Release string `json:"release"`
	// Image is "" for an installed bundle that the selected catalog does not hold.
	Image string `json:"image"`
}

// TiedCatalog is one of the catalogs that tie.
type TiedCatalog struct {
	Name     string `json:"name"`
	Priority int32  `json:"priority"`
}

// Scope is what a deprecation is about.
type Scope string

// The scopes of deprecations.
const (
	ScopePackage         Scope = "Package"
	ScopeChannel         Scope = "Channel"
	ScopeBundle          Scope = "Bundle"
	ScopeInstalledBundle Scope = "InstalledBundle"
)

// Deprecation is an entry of the selected catalog's olm.deprecations that concerns the extension.
type Deprecation struct {
	Scope Scope `json:"scope"`
	// Name of the package, channel or bundle.
	Name string `json:"name"`
	// Message is the catalog's own text and may be empty.
	Message string `json:"message"`
}

// Note is something a person should know, whatever the outcome.
type Note struct {
	Reason Reason `json:"reason"`
	// Field is the full path of the field it is about, "" when there is none.
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Suggestion is one change that would help, ready to paste.
type Suggestion struct {
	// Field is the full path of the field to set.
	Field string `json:"field"`
	// Value is what to set it to, as JSON; null means to remove it.
	Value   json.RawMessage `json:"value"`
	Message string          `json:"message"`
}

// Trace is how the answer came about.
type Trace struct {
	Rule Rule `json:"rule"`
	// Catalogs are all catalogs, by priority descending, then name.
	Catalogs []TraceCatalog `json:"catalogs"`
}

// TraceCatalog is what became of one catalog.
type TraceCatalog struct {
	Name     string `json:"name"`
	Priority int32  `json:"priority"`
	// Considered is false for catalogs that are left out, for the reason in Why.
	Considered bool `json:"considered"`
	// Why says why the catalog was left out, not looked at, or has no content; "" otherwise.
	Why string `json:"why"`
	// Contains is whether the content at hand contains the package.
	Contains bool `json:"contains"`
	// Bundles counts those with a usable version. Each later count is what the constraints so far leave.
	Bundles        int `json:"bundles"`
	InChannels     int `json:"inChannels"`
	InVersionRange int `json:"inVersionRange"`
	Upgradable     int `json:"upgradable"`
}

// Location is where a manifest stands.
type Location struct {
	File string `json:"file"`
	// Line counts from 1.
	Line int `json:"line"`
	// Document counts from 0 within the file.
	Document int `json:"document"`
}

// VerdictList is what the command line prints for several extensions.
type VerdictList struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Items      []Verdict `json:"items"`
}

// NewVerdictList wraps verdicts for printing.
func NewVerdictList(items []Verdict) VerdictList {
	if items == nil {
		items = []Verdict{}
	}
	return VerdictList{APIVersion: "olmgate.dev/v1alpha1", Kind: "VerdictList", Items: items}
}
