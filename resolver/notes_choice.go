package resolver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgate/olmgate/catalog"
)

// choiceNotes are about the bundle that was chosen.
func (c *entrant) choiceNotes(l *noteList) {
	e := c.eval
	b := e.chosen()
	if e.req.version == "" && len(b.Version.Pre) > 0 {
		l.add(PrereleaseSelected, fieldVersion, "%s is a prerelease: without a version prereleases are candidates too; a range such as %q leaves them out", b.Version, "*")
	}
	if head := e.otherMajor(b); head != nil {
		l.add(MajorJump, fieldVersion, "%s is of another major version than %s, the head of the default channel %s; without a version and channels every channel counts", versionText(b), versionText(head), e.pkg.DefaultChannel)
	}
	e.duplicateNote(l, c.Name)
	e.ignoredEdgesNote(l, b)
	if len(b.Dependencies) > 0 {
		l.add(DependenciesDeclared, "", "bundle %s declares dependencies, and operator-controller refuses to install it: %s", b.Name, join(dependencies(b), "; "))
	}
	if b.InstallModes&catalog.CSVMetadata != 0 && b.InstallModes&catalog.AllNamespaces == 0 {
		l.add(InstallModeUnsupported, "", "bundle %s does not support the install mode AllNamespaces, which operator-controller needs", b.Name)
	}
}

// otherMajor is the head of the default channel, when nothing was asked for and the choice is of another major
// version; nil otherwise, also when the channel has no head or several.
func (e *evaluation) otherMajor(chosen *catalog.Bundle) *catalog.Bundle {
	if e.req.version != "" || len(e.req.channels) > 0 {
		return nil
	}
	ch := e.pkg.Channel(e.pkg.DefaultChannel)
	if ch == nil {
		return nil
	}
	other := slices.ContainsFunc(ch.Entries, func(n catalog.Entry) bool {
		return n.Bundle >= 0 && e.pkg.Bundles[n.Bundle].Version.Major != chosen.Version.Major
	})
	if !other {
		return nil
	}
	replaced := map[string]bool{}
	for i := range ch.Entries {
		n := &ch.Entries[i]
		if n.Replaces != n.Name {
			replaced[n.Replaces] = true
		}
		for _, s := range n.Skips {
			if s != n.Name {
				replaced[s] = true
			}
		}
	}
	var head *catalog.Entry
	for i := range ch.Entries {
		n := &ch.Entries[i]
		if replaced[n.Name] {
			continue
		}
		if head != nil && head.Name != n.Name {
			return nil
		}
		head = n
	}
	if head == nil || head.Bundle < 0 {
		return nil
	}
	b := &e.pkg.Bundles[head.Bundle]
	if b.Problem != "" || b.Version.Major == chosen.Version.Major {
		return nil
	}
	return b
}

func (e *evaluation) duplicateNote(l *noteList, from string) {
	const all = usable | inChannels | inVersion | reachable
	b := e.chosen()
	var names []string
	for i, f := range e.flags {
		if o := &e.pkg.Bundles[i]; i != e.best && f&all == all && o.Version.Compare(b.Version) == 0 && o.Release.Compare(b.Release) == 0 {
			names = append(names, o.Name)
		}
	}
	if len(names) > 0 {
		l.add(DuplicateVersion, "", "catalog %s has more than one bundle of version %s: %s was chosen, there %s also %s", from, versionText(b), b.Name, plural(len(names), "is", "are"), join(names, ", "))
	}
}

// ignoredEdgesNote says that SelfCertified allowed what the upgrade edges would not.
func (e *evaluation) ignoredEdgesNote(l *noteList, b *catalog.Bundle) {
	in := e.installed
	if in == nil || !e.req.selfCertified || in.is(b) {
		return
	}
	e.markReachable(reachableAny, true)
	switch {
	case in.parsed && (b.Version.Compare(in.version) < 0 || b.Version.Compare(in.version) == 0 && b.Release.Compare(in.release) < 0):
		l.add(UpgradeConstraintsIgnored, fieldPolicy, "%s is older than the installed %s: SelfCertified allows the downgrade", versionText(b), in.text)
	case e.flags[e.best]&reachableAny == 0:
		l.add(UpgradeConstraintsIgnored, fieldPolicy, "no upgrade edge leads from the installed %s to %s: SelfCertified allows it", in.text, versionText(b))
	}
}

// dependencies lists what a bundle requires.
func dependencies(b *catalog.Bundle) []string {
	var list []string
	for _, d := range b.Dependencies {
		var v struct {
			Group, Version, Kind      string
			PackageName, VersionRange string
		}
		what := d.Type
		if json.Unmarshal([]byte(d.Value), &v) == nil {
			switch {
			case v.Kind != "":
				what += fmt.Sprintf(" %s/%s %s", v.Group, v.Version, v.Kind)
			case v.PackageName != "":
				what += strings.TrimRight(fmt.Sprintf(" %s %s", v.PackageName, v.VersionRange), " ")
			}
		}
		list = append(list, what)
	}
	return list
}
