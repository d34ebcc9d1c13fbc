package resolver

import (
	"fmt"
	"slices"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
)

// Availability is whether there is an update.
type Availability string

// Whether there is an update.
const (
	UpdateAvailable Availability = "True"
	NoUpdate        Availability = "False"
	// UpdateUnknown: nothing can be said, for the reason that is given.
	UpdateUnknown Availability = "Unknown"
)

// Reasons of an Update beside those of verdicts and notes, which explain UpdateUnknown. docs/status.md describes them.
const (
	// WithinConstraints: the constraints admit an update, and operator-controller installs it.
	WithinConstraints Reason = "WithinConstraints"
	// HeldBack: what is newer is not installed, since a constraint or a missing edge stands in the way.
	HeldBack Reason = "HeldBack"
	// UpToDate: the selected catalog has nothing newer.
	UpToDate Reason = "UpToDate"
	// NotInstalled: nothing is installed that could be updated.
	NotInstalled Reason = "NotInstalled"
)

// Update says what is newer than what is installed: within the constraints, and beyond them. Only the selected catalog
// counts. What is deprecated there is never called newer unless it was chosen; a prerelease is not either, unless one is
// installed or was chosen.
type Update struct {
	Available Availability `json:"available"`
	Reason    Reason       `json:"reason"`
	// Message says it in a sentence or two.
	Message string `json:"message"`
	// Installed is what the extension's status says; nil when it says nothing.
	Installed *Bundle `json:"installed,omitempty"`
	// Resolvable is what would be installed within the constraints; nil unless resolved.
	Resolvable *Bundle `json:"resolvable,omitempty"`
	// Newest is the newest in the selected catalog, and the installed one when nothing is newer; nil when nothing can be
	// said, and when what is installed is nowhere in the catalog and nothing there is newer.
	Newest *Bundle `json:"newest,omitempty"`
	// HeldBy are the fields without which Newest could be reached, none when it can be.
	HeldBy []string `json:"heldBy"`
	// Hops is how many upgrades lead from the installed bundle to the newest, without the constraints that hold it back; 0
	// when nothing is newer, nil when no chain of edges leads there or nothing can be said.
	Hops *int `json:"hops,omitempty"`
}

// Outlook is Resolve, with the verdict's Update filled in.
func Outlook(ext *ocv1.ClusterExtension, catalogs []Catalog, rule Rule) Verdict {
	v, r, a := resolve(ext, catalogs, rule)
	u := &Update{HeldBy: []string{}, Resolvable: v.Bundle}
	if ext.Status.Install != nil {
		b := ext.Status.Install.Bundle
		u.Installed = &Bundle{Name: b.Name, Version: b.Version}
		if b.Release != nil {
			u.Installed.Release = *b.Release
		}
	}
	u.fill(&v, r, a)
	u.Message = clean(u.Message)
	v.Update = u
	return v
}

// fill finds out what can be said.
func (u *Update) fill(v *Verdict, r *request, a answer) {
	switch {
	case r == nil:
		u.unknown(v.Reason, "resolution fails before any catalog is looked at")
	case r.unknownState:
		u.unknown(InstalledStateUnknown, "it is not known what is installed (condition Installed is Unknown)")
	case r.installed == nil && v.Bundle != nil:
		u.say(NoUpdate, NotInstalled, "nothing is installed yet; %s would be", v.Bundle.Name)
	case r.installed == nil && a.outcome == OutcomeUndecided:
		u.say(NoUpdate, NotInstalled, "nothing is installed yet, and what would be is undecided (%s)", v.Reason)
	case r.installed == nil:
		u.say(NoUpdate, NotInstalled, "nothing is installed yet, and nothing would be (%s)", v.Reason)
	case a.outcome == OutcomeUndecided:
		u.unknown(v.Reason, "the content of a catalog is not at hand")
	case a.from == nil || a.from.eval == nil:
		u.unknown(v.Reason, "no catalog is selected")
	case !r.installed.parsed:
		u.unknown(InvalidInstalledVersion, "the installed version or release cannot be read")
	default:
		u.compare(a.from, a.reason)
	}
}

func (u *Update) unknown(reason Reason, why string) {
	u.say(UpdateUnknown, reason, "it cannot be said whether there is an update: %s", why)
}

func (u *Update) say(available Availability, reason Reason, format string, args ...any) {
	u.Available, u.Reason, u.Message = available, reason, fmt.Sprintf(format, args...)
}

// compare says what a catalog has beside the installed bundle.
func (u *Update) compare(from *entrant, verdict Reason) {
	e := from.eval
	in := e.installed
	if i := e.installedAt(); i >= 0 {
		u.Newest = newBundle(&e.pkg.Bundles[i])
		if u.Newest.Name == u.Installed.Name {
			u.Installed = newBundle(&e.pkg.Bundles[i])
		}
	}
	have := in.describe()
	next := e.chosen()
	newest := e.newer()
	beyond := ""
	if newest != nil {
		u.Newest = newBundle(newest)
		path, held := e.way(newest)
		for _, h := range held {
			u.HeldBy = append(u.HeldBy, h.field())
		}
		if path != nil {
			n := len(path)
			u.Hops = &n
		}
		beyond = fmt.Sprintf("%s in catalog %s", versionText(newest), from.Name) + e.heldText(held, path)
	} else {
		none := 0
		u.Hops = &none
	}
	switch {
	case next != nil && !in.is(next):
		u.say(UpdateAvailable, WithinConstraints, "%s is installed; %s would be installed within the constraints", have, versionText(next))
		switch {
		case in.compare(next) > 0:
			u.Message += ", which is older"
		case newest != nil && newest != next:
			u.Message += "; newer still is " + beyond
		}
	case newest != nil && next == nil:
		u.say(UpdateAvailable, HeldBack, "%s is installed, and nothing qualifies (%s); newer is %s", have, verdict, beyond)
	case newest != nil:
		u.say(UpdateAvailable, HeldBack, "%s is installed and the best that the constraints admit; newer is %s", have, beyond)
	default:
		u.say(NoUpdate, UpToDate, "%s is installed, and catalog %s has nothing newer", have, from.Name)
	}
}

// describe names the installed version, with the release that is known.
func (in *installedBundle) describe() string {
	return versionText(&catalog.Bundle{Version: in.version, Release: in.release})
}

// compare orders the installed bundle and another by version and release.
func (in *installedBundle) compare(b *catalog.Bundle) int {
	if c := in.version.Compare(b.Version); c != 0 {
		return c
	}
	return in.release.Compare(b.Release)
}

// installedAt is the position of the installed bundle: by name and version, otherwise by version; -1 when it is not there.
func (e *evaluation) installedAt() int {
	found := -1
	for i := range e.pkg.Bundles {
		b := &e.pkg.Bundles[i]
		if e.flags[i]&usable == 0 || !e.installed.is(b) {
			continue
		}
		if b.Name == e.installed.name {
			return i
		}
		if found < 0 {
			found = i
		}
	}
	return found
}

// newer is the best bundle above the installed one, whatever the constraints; nil when there is none.
func (e *evaluation) newer() *catalog.Bundle {
	best := -1
	for i := range e.pkg.Bundles {
		b := &e.pkg.Bundles[i]
		switch {
		case e.flags[i]&usable == 0 || e.installed.compare(b) >= 0:
		case i != e.best && e.flags[i]&deprecated != 0:
		case i != e.best && len(b.Version.Pre) > 0 && len(e.installed.version.Pre) == 0:
		case best < 0 || e.newerThan(i, best):
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &e.pkg.Bundles[best]
}

// newerThan orders by version, release and name alone, so that a deprecated choice does not hide what is newer.
func (e *evaluation) newerThan(i, j int) bool {
	a, b := &e.pkg.Bundles[i], &e.pkg.Bundles[j]
	if c := a.Version.Compare(b.Version); c != 0 {
		return c > 0
	}
	if c := a.Release.Compare(b.Release); c != 0 {
		return c > 0
	}
	return a.Name < b.Name
}

// way is the shortest chain of upgrades from the installed bundle to a target, and the constraints that have to be
// dropped for it: none, one, or the first combination that helps. Without any chain, the edges themselves are among them.
func (e *evaluation) way(to *catalog.Bundle) ([]*catalog.Bundle, []constraint) {
	for _, drop := range [][]constraint{
		nil, {byVersion}, {byChannels}, {byEdges}, {byVersion, byChannels}, {byEdges, byVersion}, {byEdges, byChannels},
	} {
		if path := e.wayWithout(to, drop); path != nil {
			if slices.Contains(drop, byEdges) {
				path = nil // a jump, not an upgrade
			}
			return path, drop
		}
	}
	return nil, []constraint{byEdges, byVersion, byChannels}
}

// wayWithout is the chain when these constraints are dropped; nil when there is none, or they are not set.
func (e *evaluation) wayWithout(to *catalog.Bundle, drop []constraint) []*catalog.Bundle {
	through := usable | inVersion | inChannels
	requested := true
	edges := e.req.constrained()
	for _, d := range drop {
		switch {
		case d == byEdges && e.req.constrained():
			edges = false
		case d == byVersion && e.req.inRange != nil:
			through &^= inVersion
		case d == byChannels && len(e.req.channels) > 0:
			through &^= inChannels
			requested = false
		default:
			return nil
		}
	}
	is := func(i int) bool { return &e.pkg.Bundles[i] == to }
	if !edges {
		for i := range e.pkg.Bundles {
			if is(i) && e.flags[i]&through == through {
				return []*catalog.Bundle{to}
			}
		}
		return nil
	}
	return e.search(through, requested, is)
}

func (c constraint) field() string {
	switch c {
	case byVersion:
		return fieldVersion
	case byChannels:
		return fieldChannels
	}
	return fieldPolicy
}

// heldText says what holds the newest bundle back, and how far away it is.
func (e *evaluation) heldText(held []constraint, path []*catalog.Bundle) string {
	var by []string
	for _, h := range held {
		switch h {
		case byVersion:
			by = append(by, fmt.Sprintf("%s %q", fieldVersion, e.req.version))
		case byChannels:
			by = append(by, fmt.Sprintf("%s [%s]", fieldChannels, join(e.req.channels, " ")))
		case byEdges:
			by = append(by, "the upgrade edges")
		}
	}
	text := ""
	if len(by) > 0 {
		text = ", held back by " + strings.Join(by, " and ")
	}
	switch {
	case len(path) > 1:
		text += fmt.Sprintf(", %d upgrades away: %s", len(path), stepsText(e.installed.describe(), path))
	case path == nil && slices.Contains(held, byEdges):
		text += ", of which none leads there"
	}
	return text
}
