package resolver

import (
	"fmt"
	"strings"
	"unicode/utf8"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
)

// Resolve answers what the extension resolves to with these catalogs under the rule. The same inputs give the same
// answer, byte for byte, in any order of the catalogs. Call it only for extensions that Judges accepts.
func Resolve(ext *ocv1.ClusterExtension, catalogs []Catalog, rule Rule) Verdict {
	v, _, _ := resolve(ext, catalogs, rule)
	return v
}

// resolve is Resolve with what the verdict was made from; the request is nil when the extension cannot be read.
func resolve(ext *ocv1.ClusterExtension, catalogs []Catalog, rule Rule) (Verdict, *request, answer) {
	v := Verdict{
		Extension:    ext.Name,
		Deprecations: []Deprecation{},
		Notes:        []Note{},
		Suggestions:  []Suggestion{},
		Trace:        Trace{Rule: rule, Catalogs: []TraceCatalog{}},
	}
	if src := ext.Spec.Source.Catalog; src != nil {
		v.Package = src.PackageName
	}
	r, bad := parse(ext)
	if bad != nil {
		v.Outcome, v.Reason, v.Field, v.Message = OutcomeFailed, bad.reason, bad.field, clean(bad.message)
		v.Suggestions = append(v.Suggestions, bad.suggest...)
		v.Trace.Catalogs = untouched(catalogs)
		return v, nil, answer{}
	}
	f := gather(r, catalogs)
	a := f.answer(rule)
	x := f.explain(a, rule)
	v.Outcome, v.Reason, v.Field, v.Message = a.outcome, a.reason, x.field, clean(x.message)
	notes := f.notes(a)
	if a.from != nil {
		priority := a.from.Priority
		v.Catalog, v.Priority = a.from.Name, &priority
		v.Deprecations = a.from.eval.deprecations()
	}
	if a.outcome == OutcomeResolved {
		v.Bundle = newBundle(a.from.eval.chosen())
	}
	if a.reason == AmbiguousCatalogs {
		for _, c := range a.tied {
			v.Ambiguous = append(v.Ambiguous, TiedCatalog{c.Name, c.Priority})
		}
	}
	f.compare(&notes, &x, rule, a)
	v.Notes = notes.sorted()
	for i := range v.Notes {
		v.Notes[i].Message = clean(v.Notes[i].Message)
	}
	for _, s := range x.suggest {
		s.Message = clean(s.Message)
		v.Suggestions = append(v.Suggestions, s)
	}
	v.Trace.Catalogs = f.trace(rule, a)
	return v, r, a
}

func newBundle(b *catalog.Bundle) *Bundle {
	return &Bundle{b.Name, b.Version.String(), b.Release.String(), b.Image}
}

// compare adds the note SelectionDiffers when the other rule answers differently.
func (f *field) compare(l *noteList, x *explanation, rule Rule, a answer) {
	other := RuleBundle
	if rule == RuleBundle {
		other = RulePackage
	}
	o := f.answer(other)
	if a.outcome == OutcomeUndecided || o.outcome == OutcomeUndecided || a.outcome == OutcomeFailed && o.outcome == OutcomeFailed {
		return
	}
	if a.outcome == o.outcome && a.from == o.from && a.from.eval.best == o.from.eval.best {
		return
	}
	agree := a.from
	if a.outcome != OutcomeResolved {
		agree = o.from
	}
	byBundle, byPackage := o, a
	if rule == RuleBundle {
		byBundle, byPackage = a, o
	}
	l.add(SelectionDiffers, fieldSelector, "operator-controller up to 1.11 would %s; by package it is %s. Both agree with selector: %s",
		byBundle.does(), byPackage.is(), byNameText(agree.Name))
	if a.outcome == OutcomeResolved { // a failure's suggestions say it already
		x.add(suggestCatalog(agree.Name, "for both selection rules to agree,"))
	}
}

// does says what an installer that follows the answer does.
func (a answer) does() string {
	if a.outcome == OutcomeResolved {
		return fmt.Sprintf("install %s from %s", a.from.eval.chosen().Name, a.from.Name)
	}
	return fmt.Sprintf("install nothing (%s)", a.reason)
}

// is names the answer.
func (a answer) is() string {
	if a.outcome == OutcomeResolved {
		return fmt.Sprintf("%s from %s", a.from.eval.chosen().Name, a.from.Name)
	}
	return string(a.reason)
}

// maxMessage bounds a message, in bytes: names come from catalogs that cannot be trusted.
const maxMessage = 4096

// clean makes a message one line of printable text of bounded size. What catalogs say often ends with a line break.
func clean(s string) string {
	if len(s) > maxMessage {
		cut := maxMessage
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "..."
	}
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f {
			return strings.TrimRight(strings.Map(func(r rune) rune {
				if r < 0x20 || r >= 0x7f && r < 0xa0 || r == utf8.RuneError || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
					return ' '
				}
				return r
			}, s), " ")
		}
	}
	return s
}
