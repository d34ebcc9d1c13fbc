package resolver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgate/olmgate/catalog"
)

// explainNoUpgradePath says what stands in the way of an upgrade and how to get there.
func (c *entrant) explainNoUpgradePath(x *explanation, dropped constraint) {
	e := c.eval
	x.field = e.req.narrowest()
	target := &e.pkg.Bundles[e.choose(e.without(dropped))]
	from := e.req.installed.text
	var path []*catalog.Bundle
	if dropped == byEdges {
		if path = e.path(); len(path) > 0 {
			target = path[len(path)-1]
		}
	}
	switch dropped {
	case byEdges:
		x.say("%s exists in catalog %s, but no upgrade edge%s leads to it from the installed %s.",
			versionText(target), c.Name, e.edgesOf(), from)
	case byEdges | byVersion:
		x.say("in catalog %s no upgrade edge%s leads on from the installed %s, and no bundle%s is in the range %q; without both conditions %s would qualify.",
			c.Name, e.edgesOf(), from, e.inRequested(), e.req.version, versionText(target))
	default:
		x.say("in catalog %s no upgrade edge leads from the installed %s to a bundle%s in %s; without the edges and the channels %s would qualify.",
			c.Name, from, versionRangeText(e.req), e.req.channelsText(), versionText(target))
	}
	if in := e.installed; dropped == byEdges && len(path) == 0 && in.parsed && target.Version.Compare(in.version) < 0 {
		x.say("It is older than the installed one, and upgrade edges do not lead back.")
		x.add(suggestSelfCertified(fmt.Sprintf("if the downgrade from %s to %s is what you want,", from, versionText(target))))
		return
	}
	if e.pkg.FirstBundle(e.req.installed.name) < 0 {
		x.say("The installed bundle %s is not in the catalog any more.", e.req.installed.name)
	}
	if dropped == byEdges {
		c.explainPath(x, path)
	}
	// Of a pair, both have to change.
	switch dropped {
	case byEdges | byVersion:
		x.add(suggestVersion(exact(target), "together with the next change, to ask for what is there,"))
	case byEdges | byChannels:
		if channels := e.holders(target.Name); len(channels) > 0 {
			x.add(suggestChannels("together with the next change, to ask for a channel that holds it,", channels[0]))
		} else {
			x.add(suggestRemoval(fieldChannels, "together with the next change, to take bundles outside of channels too,"))
		}
	}
	x.add(suggestSelfCertified(fmt.Sprintf("if you have verified the jump from %s to %s yourself,", from, versionText(target))))
}

func versionRangeText(r *request) string {
	if r.version == "" {
		return ""
	}
	return fmt.Sprintf(" in the range %q", r.version)
}

// edgesOf says which channels' edges count.
func (e *evaluation) edgesOf() string {
	if len(e.req.channels) == 0 {
		return ""
	}
	return " of " + e.req.channelsText()
}

func (e *evaluation) inRequested() string {
	if len(e.req.channels) == 0 {
		return ""
	}
	return " of these channels"
}

// explainPath adds the shortest way, hop by hop, or another channel that has an edge.
func (c *entrant) explainPath(x *explanation, path []*catalog.Bundle) {
	e := c.eval
	if len(path) > 0 {
		x.say("Shortest path: %s.", stepsText(e.req.installed.text, path))
		x.add(suggestVersion(exact(path[0]), "first, to take the next step,"))
		return
	}
	x.say("No chain of edges leads there either.")
	if len(e.req.channels) == 0 {
		return
	}
	if channels := e.channelsWithEdge(); len(channels) > 0 {
		x.say("There is an edge in %s %s.", plural(len(channels), "channel", "channels"), join(channels, ", "))
		x.add(suggestChannels("to count that edge too,", append(slices.Clone(e.req.channels), channels[0])...))
	}
}

// channelsWithEdge are channels, not requested, with an edge from the installed bundle to one that qualifies but for
// the edges.
func (e *evaluation) channelsWithEdge() []string {
	var list []string
	for i := range e.pkg.Channels {
		ch := &e.pkg.Channels[i]
		if slices.Contains(e.req.channels, ch.Name) {
			continue
		}
		for j := range ch.Entries {
			n := &ch.Entries[j]
			const but = usable | inChannels | inVersion
			if n.Bundle >= 0 && e.flags[n.Bundle]&but == but && e.leads(n, e.installed.name, e.installed.versionOrNil()) {
				list = append(list, ch.Name)
				break
			}
		}
	}
	return list
}

// stepsText lists the versions along a path; a long one is shortened in its middle.
func stepsText(from string, path []*catalog.Bundle) string {
	steps := []string{from}
	for _, b := range path {
		steps = append(steps, versionText(b))
	}
	if len(steps) > 8 {
		steps = append(append(slices.Clone(steps[:4]), fmt.Sprintf("(%d more)", len(steps)-7)), steps[len(steps)-3:]...)
	}
	return strings.Join(steps, " -> ")
}
