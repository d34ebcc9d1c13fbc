package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgate/olmgate/catalog"
)

// noteList collects notes.
type noteList []Note

func (l *noteList) add(reason Reason, field, format string, args ...any) {
	*l = append(*l, Note{reason, field, fmt.Sprintf(format, args...)})
}

func (l noteList) sorted() []Note {
	if l == nil {
		return []Note{}
	}
	slices.SortFunc(l, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
	return l
}

// notes are what a person should know beside the answer.
func (f *field) notes(a answer) noteList {
	var l noteList
	f.catalogNotes(&l, a)
	f.requestNotes(&l, a)
	if a.from != nil && a.from.eval != nil {
		a.from.packageNotes(&l)
		if a.outcome == OutcomeResolved {
			a.from.choiceNotes(&l)
		}
	}
	return l
}

// catalogNotes are about the state of the considered catalogs.
func (f *field) catalogNotes(l *noteList, a answer) {
	for _, c := range f.left {
		if c.known() && c.Content.Outdated {
			why := ""
			if c.Content.Problem != "" {
				why = ": " + c.Content.Problem
			}
			l.add(CatalogContentOutdated, "", "the content of catalog %s is older than what its status reports%s", c.Name, why)
		}
		if !c.Serving && a.outcome != OutcomeUndecided {
			l.add(CatalogNotServing, "", "catalog %s is not serving at the moment, and operator-controller does not resolve while a selected catalog is not serving", c.Name)
		}
	}
	if a.outcome == OutcomeFailed && len(a.unknown) > 0 {
		var names []string
		for _, c := range a.unknown {
			names = append(names, fmt.Sprintf("%s (%s)", c.Name, c.problem()))
		}
		l.add(CatalogContentUnavailable, "", "it fails whatever is in the catalogs whose content is not at hand: %s", join(names, ", "))
	}
}

// requestNotes are about what was asked for.
func (f *field) requestNotes(l *noteList, a answer) {
	r := f.req
	if r.unknownState {
		l.add(InstalledStateUnknown, fieldStatus, "it is not known what is installed (condition Installed is Unknown), so upgrade edges were not judged")
	}
	if strings.Contains(r.version, "+") {
		which := ""
		if a.outcome == OutcomeResolved {
			which = fmt.Sprintf(" %s was chosen, version %s.", a.from.eval.chosen().Name, versionText(a.from.eval.chosen()))
		}
		l.add(ReleasePinIgnored, fieldVersion, "build metadata in the range %q takes no part in matching, so it pins no release: the highest release of a version wins.%s", r.version, which)
	}
	if r.inRange != nil && !f.anyInRange() && !satisfiable(r.inRange, r.version) {
		l.add(UnsatisfiableRange, fieldVersion, "no version at all can be in the range %q: its bounds contradict each other", r.version)
	}
}

// anyInRange reports whether some bundle at hand shows that the range can be satisfied.
func (f *field) anyInRange() bool {
	for _, c := range f.left {
		if c.eval != nil && slices.ContainsFunc(c.eval.flags, func(b uint8) bool { return b&(usable|inVersion) == usable|inVersion }) {
			return true
		}
	}
	return false
}

// packageNotes are about the package in the selected catalog, whether or not something qualifies.
func (c *entrant) packageNotes(l *noteList) {
	e := c.eval
	if len(e.missing) > 0 && len(e.found) > 0 {
		l.add(SomeChannelsNotFound, fieldChannels, "package %q in catalog %s has no channel %s; it has %s", e.pkg.Name, c.Name, join(e.missing, ", "), join(c.markDefault(channelNames(e.pkg)), ", "))
	}
	var invalid []string
	for i := range e.pkg.Bundles {
		if b := &e.pkg.Bundles[i]; b.Problem != "" && (len(e.req.channels) == 0 || e.flags[i]&inChannels != 0) {
			invalid = append(invalid, fmt.Sprintf("%s (%s)", b.Name, b.Problem))
		}
	}
	if len(invalid) > 0 {
		l.add(InvalidBundleVersion, "", "%s of package %q in catalog %s %s no part: %s", count(len(invalid), "bundle"), e.pkg.Name, c.Name, plural(len(invalid), "takes", "take"), join(invalid, "; "))
	}
	var ranges []string
	e.eachChannel(true, func(ch *catalog.Channel) {
		for i := range ch.Entries {
			if n := &ch.Entries[i]; n.BadSkipRange {
				ranges = append(ranges, fmt.Sprintf("%q of %s in channel %s", n.SkipRange, n.Name, ch.Name))
			}
		}
	})
	slices.Sort(ranges)
	if ranges = slices.Compact(ranges); len(ranges) > 0 {
		l.add(InvalidSkipRange, "", "%s of package %q in catalog %s cannot be read and %s no upgrade edge: %s", count(len(ranges), "skipRange"), e.pkg.Name, c.Name, plural(len(ranges), "is", "are"), join(ranges, "; "))
	}
	c.deprecationNotes(l)
}

func channelNames(p *catalog.Package) []string {
	var list []string
	for i := range p.Channels {
		list = append(list, p.Channels[i].Name)
	}
	return list
}

// deprecationNotes are the deprecations that deserve a word: fewer than those that are reported.
func (c *entrant) deprecationNotes(l *noteList) {
	e := c.eval
	said := func(message string) string {
		if message == "" {
			return ""
		}
		return ": " + message
	}
	chosen := e.chosen()
	var holders []string
	if len(e.req.channels) == 0 && chosen != nil {
		holders = e.holders(chosen.Name)
	}
	allDeprecated := len(holders) > 0
	for _, h := range holders {
		allDeprecated = allDeprecated && slices.ContainsFunc(e.pkg.Deprecations, func(d catalog.Deprecation) bool {
			return d.Schema == catalog.SchemaChannel && d.Name == h
		})
	}
	for _, d := range e.pkg.Deprecations {
		switch d.Schema {
		case catalog.SchemaPackage:
			l.add(PackageDeprecated, fieldPackage, "package %q is deprecated in %s%s", e.pkg.Name, c.Name, said(d.Message))
		case catalog.SchemaChannel:
			if slices.Contains(e.req.channels, d.Name) || allDeprecated && slices.Contains(holders, d.Name) {
				l.add(ChannelDeprecated, fieldChannels, "channel %q of %s is deprecated in %s%s", d.Name, e.pkg.Name, c.Name, said(d.Message))
			}
		case catalog.SchemaBundle:
			if chosen != nil && chosen.Name == d.Name {
				l.add(BundleDeprecated, fieldVersion, "bundle %s is deprecated in %s%s", d.Name, c.Name, said(d.Message))
			}
		}
	}
}
