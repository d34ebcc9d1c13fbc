package report

import (
	"slices"
	"strings"

	"github.com/olmgate/olmgate/docs"
	"github.com/olmgate/olmgate/resolver"
)

// Names of the rules that are about the objects themselves.
const (
	// UnreadableInput: a file cannot be read.
	UnreadableInput = "UnreadableInput"
	// OldAPI: the object is of an API that OLM v1 no longer serves.
	OldAPI = "OldAPI"
	// OldField: a field of an earlier API, or of OLM v0.
	OldField = "OldField"
	// LabelsForSelector: labels stand where a selector belongs.
	LabelsForSelector = "LabelsForSelector"
	// UnknownField: the API server drops the field, or refuses the object.
	UnknownField = "UnknownField"
	// ExperimentalField: the field is there only where the experimental CRD is installed.
	ExperimentalField = "ExperimentalField"
	// IgnoredField: the field is accepted and has no effect.
	IgnoredField = "IgnoredField"
	// MissingField: a field that must be there is not.
	MissingField = "MissingField"
	// WrongType: the value is of another type than the field.
	WrongType = "WrongType"
	// InvalidValue: the CRD does not allow the value.
	InvalidValue = "InvalidValue"
	// DuplicateKey: a key stands twice in one mapping.
	DuplicateKey = "DuplicateKey"
	// DuplicateObject: an object stands twice in one file.
	DuplicateObject = "DuplicateObject"
)

// Rule describes what findings of one rule have in common.
type Rule struct {
	Name string
	// Summary is one sentence.
	Summary string
	// Level is that of its findings unless the configuration says otherwise.
	Level Level
	// Docs is the address of the page about it.
	Docs string
}

// docsBase is where the documentation is.
const docsBase = "https://github.com/olmgate/olmgate/blob/main/docs/"

// schemaRules are those about the objects themselves, in the order of docs/check.md.
var schemaRules = []Rule{
	{Name: UnreadableInput, Level: Error, Summary: "A file cannot be read"},
	{Name: OldAPI, Level: Error, Summary: "The object is of an API that OLM v1 does not serve"},
	{Name: OldField, Level: Error, Summary: "The field is one of an earlier API, which has another place now"},
	{Name: LabelsForSelector, Level: Error, Summary: "Labels stand where a selector belongs"},
	{Name: UnknownField, Level: Error, Summary: "The field does not exist, and is dropped or refused"},
	{Name: ExperimentalField, Level: Warning, Summary: "The field exists only in the experimental CRD"},
	{Name: IgnoredField, Level: Warning, Summary: "The field is accepted and has no effect"},
	{Name: MissingField, Level: Error, Summary: "A field that must be there is not"},
	{Name: WrongType, Level: Error, Summary: "The value is of another type than the field"},
	{Name: InvalidValue, Level: Error, Summary: "The CRD does not allow the value"},
	{Name: DuplicateKey, Level: Warning, Summary: "A key stands twice, and the last one counts"},
	{Name: DuplicateObject, Level: Warning, Summary: "An object stands twice in one file"},
}

// SchemaRules are the rules about the objects themselves.
func SchemaRules() []Rule {
	list := slices.Clone(schemaRules)
	for i := range list {
		list[i].Docs = DocsOf(list[i].Name)
	}
	return list
}

// Rules are all rules that findings can have: those about the objects, then failures, undecided and notes.
func Rules() []Rule {
	list := SchemaRules()
	add := func(r resolver.Reason, level Level) {
		page, _ := docs.Reason(string(r))
		list = append(list, Rule{string(r), page.Summary, level, DocsOf(string(r))})
	}
	for _, r := range resolver.Failures() {
		level := Error
		if r == resolver.NoCatalogsSelected {
			level = Warning
		}
		add(r, level)
	}
	add(resolver.CatalogContentUnavailable, Undecided)
	for _, r := range resolver.Notes() {
		if r != resolver.CatalogContentUnavailable {
			add(r, Warning)
		}
	}
	return list
}

// DocsOf is the address of the page about a rule.
func DocsOf(rule string) string {
	page := "reasons.md"
	if slices.ContainsFunc(schemaRules, func(r Rule) bool { return r.Name == rule }) {
		page = "check.md"
	}
	return docsBase + page + "#" + strings.ToLower(rule)
}
