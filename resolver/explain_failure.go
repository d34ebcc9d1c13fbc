package resolver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgate/olmgate/catalog"
)

// explainFailure says why nothing qualifies in the selected catalog.
func (c *entrant) explainFailure(x *explanation, a answer) {
	e := c.eval
	switch a.reason {
	case ChannelNotFound:
		c.explainChannelNotFound(x)
	case NoMatchingChannel:
		x.field = fieldChannel0
		x.say("%s of package %q in catalog %s %s no bundle that qualifies%s.", e.req.channelsText(), e.req.pkg, c.Name,
			plural(len(e.req.channels), "holds", "hold"), e.req.wanted(byChannels))
		c.suggestChannels(x, byChannels)
	case NoMatchingVersion:
		c.explainNoMatchingVersion(x, a.blame.dropped)
	case NoUpgradePath:
		c.explainNoUpgradePath(x, a.blame.dropped)
	default:
		c.explainNoMatchingBundle(x)
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// channelsText names the requested channels.
func (r *request) channelsText() string {
	return plural(len(r.channels), "channel ", "channels ") + join(r.channels, ", ")
}

// wanted describes the constraints other than those dropped, as the end of a sentence.
func (r *request) wanted(dropped constraint) string {
	var parts []string
	if dropped&byVersion == 0 && r.version != "" {
		parts = append(parts, fmt.Sprintf("in the range %q", r.version))
	}
	if dropped&byChannels == 0 && len(r.channels) > 0 {
		parts = append(parts, "in "+r.channelsText())
	}
	if dropped&byEdges == 0 && r.constrained() {
		parts = append(parts, "reachable from the installed "+r.installed.text)
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, " and ")
}

func (c *entrant) explainChannelNotFound(x *explanation) {
	e := c.eval
	x.field = fieldChannel0
	var names []string
	for i := range e.pkg.Channels {
		names = append(names, e.pkg.Channels[i].Name)
	}
	x.say("package %q in catalog %s has no %s;", e.req.pkg, c.Name, e.req.channelsText())
	if len(names) == 0 {
		x.say("it has no channels at all.")
		x.add(suggestRemoval(fieldChannels, "to take every bundle into account,"))
		return
	}
	x.say("its channels are %s.", join(c.markDefault(names), ", "))
	var like []string
	for _, want := range e.req.channels {
		like = append(like, near(want, names, 1)...)
	}
	slices.Sort(like)
	switch like = slices.Compact(like); {
	case len(like) > 0:
		x.say("Did you mean %s?", strings.Join(like, " or "))
		x.add(suggestChannels("if that is what you meant,", like...))
	case e.pkg.Channel(e.pkg.DefaultChannel) != nil:
		x.add(suggestChannels("to follow the default channel,", e.pkg.DefaultChannel))
	default:
		x.add(suggestChannels("to follow a channel that exists,", names[0]))
	}
}

// markDefault marks the default channel among names.
func (c *entrant) markDefault(names []string) []string {
	list := slices.Clone(names)
	for i, n := range list {
		if n == c.eval.pkg.DefaultChannel {
			list[i] += " (default)"
		}
	}
	return list
}

// suggestChannels names the channels that each alone, edges included, give a bundle when the dropped constraints are
// given up, and what they give.
func (c *entrant) suggestChannels(x *explanation, dropped constraint) {
	e := c.eval
	alone := *e.req
	if dropped&byVersion != 0 {
		alone.inRange = nil
	}
	var list []string
	var best string
	var bestBundle *catalog.Bundle
	for i := range e.pkg.Channels {
		name := e.pkg.Channels[i].Name
		alone.channels = []string{name}
		b := evaluate(&alone, e.pkg).chosen()
		if b == nil {
			continue
		}
		list = append(list, fmt.Sprintf("%s (%s)", name, versionText(b)))
		if bestBundle == nil || b.Version.Compare(bestBundle.Version) > 0 || name == e.pkg.DefaultChannel && b.Version.Compare(bestBundle.Version) == 0 {
			best, bestBundle = name, b
		}
	}
	if len(list) == 0 {
		where := "no channel"
		if e.req.constrained() {
			where += " that has the upgrade edge too"
		}
		x.say("What would qualify is in %s: leave spec.source.catalog.channels out.", where)
		x.add(suggestRemoval(fieldChannels, "to take every bundle and every edge into account,"))
		return
	}
	x.say("What would qualify is in %s %s.", plural(len(list), "channel", "channels"), join(list, ", "))
	x.add(suggestChannels(fmt.Sprintf("to get %s,", versionText(bestBundle)), best))
}

func (c *entrant) explainNoMatchingVersion(x *explanation, dropped constraint) {
	e := c.eval
	x.field = fieldVersion
	bits := e.without(dropped)
	x.say("no bundle of package %q in catalog %s is in the range %q%s.", e.req.pkg, c.Name, e.req.version, e.req.wanted(byVersion))
	if dropped&byChannels != 0 {
		x.say("It would take another version and another channel than %s at once.", e.req.channelsText())
		c.suggestChannels(x, dropped)
	}
	// Prereleases that only their being one keeps out.
	var held *catalog.Bundle
	for i, f := range e.flags {
		if f&bits != bits {
			continue
		}
		b := &e.pkg.Bundles[i]
		release := semver.Version{Major: b.Version.Major, Minor: b.Version.Minor, Patch: b.Version.Patch}
		if len(b.Version.Pre) > 0 && f&inVersion == 0 && inRange(e.req.inRange, &release) && (held == nil || b.Version.Compare(held.Version) > 0) {
			held = b
		}
	}
	if held != nil {
		x.say("Only prereleases are near, for example %s, and a range takes those only if one of its versions carries a prerelease itself.", versionText(held))
		if text := admitting(e.req.version, &held.Version); text != "" {
			x.add(suggestVersion(text, "to admit prereleases,"))
		}
		x.add(suggestVersion(held.Version.String(), "to pin that one,"))
		return
	}
	list := e.nearest(bits)
	var texts []string
	for _, b := range list {
		texts = append(texts, versionText(b))
	}
	x.say("The nearest %s.", plural(len(texts), "version is ", "versions are ")+strings.Join(texts, ", "))
	if len(list) > 0 {
		x.add(suggestVersion(exact(list[0]), plural(len(list), "to take that one,", "to take the newest of them,")))
		if dropped == byVersion && len(e.req.channels) > 0 {
			if e.choose(e.without(byChannels)) >= 0 {
				c.suggestChannels(x, byChannels)
			}
		}
	}
}

// exact is a version that pins a bundle, as far as one can be pinned.
func exact(b *catalog.Bundle) string {
	v := b.Version
	v.Build = nil
	return v.String()
}

// nearest are at most three of the versions with these bits, the highest first: the newest, and those around the
// first version that the range names.
func (e *evaluation) nearest(bits uint8) []*catalog.Bundle {
	var below, above, newest *catalog.Bundle
	var around *semver.Version
	if list := bounds(e.req.version); len(list) > 0 {
		around = &semver.Version{Major: list[0].Major(), Minor: list[0].Minor(), Patch: list[0].Patch()}
	}
	for i, f := range e.flags {
		if f&bits != bits {
			continue
		}
		b := &e.pkg.Bundles[i]
		if newest == nil || b.Version.Compare(newest.Version) > 0 {
			newest = b
		}
		switch {
		case around == nil:
		case b.Version.Compare(*around) <= 0 && (below == nil || b.Version.Compare(below.Version) > 0):
			below = b
		case b.Version.Compare(*around) > 0 && (above == nil || b.Version.Compare(above.Version) < 0):
			above = b
		}
	}
	var list []*catalog.Bundle
	for _, b := range []*catalog.Bundle{newest, above, below} {
		if b != nil && !slices.Contains(list, b) {
			list = append(list, b)
		}
	}
	return list
}

func (c *entrant) explainNoMatchingBundle(x *explanation) {
	e := c.eval
	x.field = e.req.narrowest()
	switch {
	case len(e.pkg.Bundles) == 0:
		x.say("catalog %s names package %q but holds no bundle of it.", c.Name, e.req.pkg)
	case e.usable == 0:
		x.say("package %q in catalog %s has %s, and none with a usable version.", e.req.pkg, c.Name, count(len(e.pkg.Bundles), "bundle"))
	default:
		x.say("no bundle of package %q in catalog %s qualifies%s, and giving up one or two of these conditions would not help: of %s, %d %s in the channels, %d of them in the version range, %d of those reachable.",
			e.req.pkg, c.Name, e.req.wanted(0), count(e.usable, "bundle"), e.inChannels, plural(e.inChannels, "is", "are"), e.inVersion, e.reachable)
		if b := e.newest(usable); b != nil {
			x.say("The newest is %s.", versionText(b))
		}
		if e.req.constrained() {
			x.add(suggestSelfCertified("after changing the other fields, to leave the upgrade edges aside on your own responsibility,"))
		}
	}
}
