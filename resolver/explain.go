package resolver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgate/olmgate/catalog"
)

// explanation is what a person is told about an answer.
type explanation struct {
	message string
	field   string
	suggest []Suggestion
}

func (x *explanation) say(format string, args ...any) {
	if x.message != "" {
		x.message += " "
	}
	x.message += fmt.Sprintf(format, args...)
}

func (x *explanation) add(s ...Suggestion) { x.suggest = append(x.suggest, s...) }

// explain says what an answer found and what to change.
func (f *field) explain(a answer, rule Rule) explanation {
	x := explanation{}
	switch a.reason {
	case Resolved:
		b := a.from.eval.chosen()
		x.say("%s from catalog %s (priority %d)", b.Name, a.from.Name, a.from.Priority)
	case CatalogContentUnavailable:
		f.explainUnavailable(&x, a)
	case NoCatalogsSelected:
		f.explainNoCatalogs(&x)
	case PackageNotFound:
		f.explainPackageNotFound(&x)
	case AmbiguousCatalogs:
		f.explainAmbiguous(&x, a, rule)
	default:
		if a.from == nil {
			f.explainSeveral(&x, a)
		} else {
			a.from.explainFailure(&x, a)
		}
	}
	return x
}

func (f *field) explainUnavailable(x *explanation, a answer) {
	// When catalogd is away, all catalogs have the same problem: it is told once.
	var problems, names []string
	of := map[string][]string{}
	for _, c := range a.unknown {
		names = append(names, fmt.Sprintf("%s (priority %d)", c.Name, c.Priority))
		p := c.problem()
		if of[p] == nil {
			problems = append(problems, p)
		}
		of[p] = append(of[p], c.Name)
	}
	all := join(names, ", ")
	if len(problems) == 1 {
		all += ": " + problems[0]
	}
	x.say("it cannot be decided yet what package %q resolves to, because the content of %s is not at hand: %s.",
		f.req.pkg, count(len(names), "catalog"), all)
	if len(problems) > 1 {
		for i, p := range problems {
			problems[i] = fmt.Sprintf("%s: %s", join(of[p], ", "), p)
		}
		x.say("Why: %s.", join(problems, "; "))
	}
}

// problem says why a catalog has no content.
func (c *entrant) problem() string {
	switch {
	case c.Content.Problem != "":
		return c.Content.Problem
	case !c.Serving:
		return "it is not serving"
	}
	return "it has not been loaded"
}

func (f *field) explainNoCatalogs(x *explanation) {
	x.field = fieldSelector
	if len(f.all) == 0 {
		x.say("there is no ClusterCatalog, so package %q cannot come from anywhere. Create one first.", f.req.pkg)
		f.explainKept(x, false)
		return
	}
	var matched, names []string
	for i := range f.all {
		c := &f.all[i]
		names = append(names, c.Name)
		if f.req.selector.Matches(labelled{c.Catalog}) {
			matched = append(matched, fmt.Sprintf("%s (%s)", c.Name, c.why))
		}
	}
	slices.Sort(names)
	if len(matched) > 0 {
		who := "the selector matches only catalogs"
		if !f.req.selective {
			who = "there are only catalogs"
		}
		x.say("%s that are left out: %s. Set availabilityMode: Available on one of them, or select another.", who, join(matched, ", "))
	} else {
		x.say("the selector %s matches no catalog; there %s %s.", f.req.selector, plural(len(names), "is", "are"), join(names, ", "))
	}
	f.suggestHolders(x)
	if len(x.suggest) == 0 && f.req.selective && slices.ContainsFunc(f.all, func(c entrant) bool { return !c.Deleting && !c.Unavailable }) {
		x.add(suggestRemoval(fieldSelector, "to select every catalog,"))
	}
	f.explainKept(x, len(matched) > 0)
}

// explainKept adds what operator-controller does with an installed bundle while no catalog is selected. It keeps it only
// when no catalog matches at all: those that are left out for another reason still count for it.
func (f *field) explainKept(x *explanation, exist bool) {
	in := f.req.installed
	switch {
	case in == nil:
	case exist:
		x.say("operator-controller keeps retrying and does not maintain the installed %s meanwhile, because for it a matching catalog exists.", in.name)
	case f.req.version == "" || f.req.version == in.text:
		x.say("operator-controller keeps the installed %s while no catalog matches.", in.name)
	default:
		x.say("operator-controller keeps retrying and does not maintain the installed %s meanwhile, because the version asked for is not the installed %q.", in.name, in.text)
	}
}

// suggestHolders suggests selectors for catalogs that are not selected and contain the package.
func (f *field) suggestHolders(x *explanation) {
	for i := range f.all {
		if c := &f.all[i]; !c.considered && c.pkg != nil && !c.Deleting && !c.Unavailable {
			x.add(suggestCatalog(c.Name, fmt.Sprintf("to take it from catalog %s,", c.Name)))
		}
	}
}

func (f *field) explainPackageNotFound(x *explanation) {
	x.field = fieldPackage
	var looked, held []string
	var names []string
	for _, c := range f.left {
		looked = append(looked, c.Name)
		for i := range c.Content.Index.Packages() {
			if p := &c.Content.Index.Packages()[i]; p.Contained() {
				names = append(names, p.Name)
			}
		}
	}
	slices.Sort(looked)
	x.say("no selected catalog contains the package %q (looked in %s).", f.req.pkg, join(looked, ", "))
	for i := range f.all {
		if c := &f.all[i]; !c.considered && c.pkg != nil {
			held = append(held, fmt.Sprintf("%s (%s)", c.Name, c.why))
		}
	}
	if len(held) > 0 {
		x.say("It is in a catalog that is left out: %s.", join(held, ", "))
		f.suggestHolders(x)
	}
	if slices.Contains(f.req.channels, f.req.pkg) {
		x.say("%q also stands in spec.source.catalog.channels: packageName is the name of the operator's package.", f.req.pkg)
	}
	slices.Sort(names)
	if like := near(f.req.pkg, slices.Compact(names), 3); len(like) > 0 && len(held) == 0 {
		x.say("Did you mean %s?", strings.Join(like, " or "))
		x.add(suggestPackage(like[0], "if that is the one,"))
	}
}

func (f *field) explainAmbiguous(x *explanation, a answer, rule Rule) {
	x.field = fieldSelector
	var list []string
	for _, c := range a.tied {
		what := c.eval.newestText()
		if b := c.eval.chosen(); rule == RuleBundle && b != nil {
			what = "offers " + versionText(b)
		}
		list = append(list, fmt.Sprintf("%s (%s)", c.Name, what))
		x.add(suggestCatalog(c.Name, fmt.Sprintf("to take it from %s (%s),", c.Name, what)))
	}
	x.say("package %q is in %d catalogs at priority %d: %s. Pick one in spec.source.catalog.selector, or give the catalogs different priorities",
		f.req.pkg, len(a.tied), a.tied[0].Priority, join(list, ", "))
	if rule == RulePackage {
		x.message += "; another version or channel does not help"
	}
	x.message += "."
}

// explainSeveral is for the rule Bundle, when several catalogs contain the package and none has a bundle to offer.
func (f *field) explainSeveral(x *explanation, a answer) {
	x.field = f.req.narrowest()
	var list []string
	for _, c := range a.tied {
		list = append(list, fmt.Sprintf("%s (%s, %s)", c.Name, c.eval.blame().reason, c.eval.newestText()))
	}
	x.say("%d catalogs contain package %q, and none has a bundle that qualifies: %s.", len(a.tied), f.req.pkg, join(list, ", "))
	x.add(suggestCatalog(a.tied[0].Name, "to be told in detail what is wrong with one of them,"))
}

// narrowest is the field to blame when it is not one constraint alone.
func (r *request) narrowest() string {
	switch {
	case r.version != "":
		return fieldVersion
	case len(r.channels) > 0:
		return fieldChannel0
	}
	return fieldPolicy
}

// chosen is the chosen bundle, nil when nothing qualifies.
func (e *evaluation) chosen() *catalog.Bundle {
	if e.best < 0 {
		return nil
	}
	return &e.pkg.Bundles[e.best]
}

// newestText names the newest usable version.
func (e *evaluation) newestText() string {
	if b := e.newest(usable); b != nil {
		return "newest " + versionText(b)
	}
	return "no usable version"
}

// versionText is a version with its release, as people write it.
func versionText(b *catalog.Bundle) string {
	if r := b.Release.String(); r != "" {
		return fmt.Sprintf("%s (release %s)", b.Version, r)
	}
	return b.Version.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// join lists at most ten items.
func join(items []string, sep string) string {
	const most = 10
	if len(items) > most {
		return strings.Join(items[:most], sep) + fmt.Sprintf(" and %d more", len(items)-most)
	}
	return strings.Join(items, sep)
}
