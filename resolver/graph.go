package resolver

import (
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
)

// maxGraphEdges bounds the edges of a graph: a skipRange leads from every bundle in it.
const maxGraphEdges = 20_000

// Graph is the package of an extension in one catalog as bundles and upgrade edges, for drawing.
type Graph struct {
	Catalog string `json:"catalog"`
	Package string `json:"package"`
	// Installed is what the extension's status says, nil when it says nothing; it may be in no catalog.
	Installed *Bundle `json:"installed,omitempty"`
	// Channels by name.
	Channels []GraphChannel `json:"channels"`
	// Bundles by version and release descending, then name.
	Bundles []GraphBundle `json:"bundles"`
	// Edges by From, To and By.
	Edges []GraphEdge `json:"edges"`
	// Truncated is whether there are more edges than are listed.
	Truncated bool `json:"truncated"`
}

// GraphChannel is a channel of the package.
type GraphChannel struct {
	Name string `json:"name"`
	// Default is whether the package names it as its default channel.
	Default bool `json:"default"`
	// Requested is whether the extension asks for it.
	Requested  bool `json:"requested"`
	Deprecated bool `json:"deprecated"`
}

// GraphState is what a bundle is to an extension.
type GraphState string

// What a bundle is to an extension.
const (
	// GraphInstalled: it is installed, and nothing else was chosen.
	GraphInstalled GraphState = "Installed"
	// GraphChosen: the verdict names it.
	GraphChosen GraphState = "Chosen"
	// GraphQualifies: it could have been chosen, and a better one was.
	GraphQualifies GraphState = "Qualifies"
	// GraphReachable: the constraints admit it, and upgrades lead there, more than one after the other.
	GraphReachable GraphState = "Reachable"
	// GraphBlocked: a constraint or a missing edge stands in the way.
	GraphBlocked GraphState = "Blocked"
	// GraphUnusable: it has no usable version.
	GraphUnusable GraphState = "Unusable"
)

// GraphBundle is a bundle with what stands in its way.
type GraphBundle struct {
	Bundle
	// Channels that hold it, by name.
	Channels []string   `json:"channels"`
	State    GraphState `json:"state"`
	// Installed is whether it is the installed one, whatever its state.
	Installed  bool `json:"installed"`
	Deprecated bool `json:"deprecated"`
	// BlockedBy are the full paths of the fields that keep it out, none when it qualifies.
	BlockedBy []string `json:"blockedBy"`
}

// GraphEdge is an upgrade from one bundle to another, as positions in Bundles.
type GraphEdge struct {
	From int `json:"from"`
	To   int `json:"to"`
	// By is replaces, skips or skipRange.
	By string `json:"by"`
	// Counts is whether it is in a channel that counts for the extension.
	Counts bool `json:"counts"`
}

// Graphs draws the package in the catalog that was selected; where none was, in each considered catalog that contains
// it, by priority descending, then name. It is none for an extension that cannot be read.
func Graphs(ext *ocv1.ClusterExtension, catalogs []Catalog, rule Rule) []Graph {
	r, bad := parse(ext)
	if bad != nil {
		return nil
	}
	f := gather(r, catalogs)
	a := f.answer(rule)
	from := f.left
	if a.from != nil {
		from = []*entrant{a.from}
	} else if len(a.tied) > 0 {
		from = a.tied
	}
	var list []Graph
	for _, c := range from {
		if c.eval != nil {
			list = append(list, c.graph(a.from == c && a.outcome == OutcomeResolved))
		}
	}
	return list
}

func (c *entrant) graph(resolved bool) Graph {
	e := c.eval
	g := Graph{Catalog: c.Name, Package: e.pkg.Name, Channels: []GraphChannel{}, Bundles: []GraphBundle{}, Edges: []GraphEdge{}}
	if in := e.req.installed; in != nil {
		g.Installed = &Bundle{Name: in.name, Version: in.text}
		if in.parsed {
			g.Installed.Version, g.Installed.Release = in.version.String(), in.release.String()
		}
	}
	for i := range e.pkg.Channels {
		name := e.pkg.Channels[i].Name
		g.Channels = append(g.Channels, GraphChannel{
			Name: name, Default: name == e.pkg.DefaultChannel, Requested: slices.Contains(e.req.channels, name),
			Deprecated: slices.ContainsFunc(e.pkg.Deprecations, func(d catalog.Deprecation) bool {
				return d.Schema == catalog.SchemaChannel && d.Name == name
			}),
		})
	}
	order := e.order()
	at := make([]int, len(order))
	ahead := e.ahead()
	for to, i := range order {
		at[i] = to
		g.Bundles = append(g.Bundles, e.graphBundle(i, ahead[i], resolved))
	}
	e.graphEdges(&g, at)
	return g
}

// order are the positions of the bundles, the newest first.
func (e *evaluation) order() []int {
	order := make([]int, len(e.pkg.Bundles))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &e.pkg.Bundles[i], &e.pkg.Bundles[j]
		if c := b.Version.Compare(a.Version); c != 0 {
			return c
		}
		if c := b.Release.Compare(a.Release); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return order
}

// ahead marks what chains of upgrades lead to from what is installed; everything when edges do not count.
func (e *evaluation) ahead() []bool {
	seen := make([]bool, len(e.pkg.Bundles))
	if !e.req.constrained() {
		for i := range seen {
			seen[i] = true
		}
		return seen
	}
	var work int
	frontier := e.hops(e.installed.name, e.installed, usable, true, &work)
	for len(frontier) > 0 && work <= pathWork {
		var next []int
		for _, i := range frontier {
			if seen[i] {
				continue
			}
			seen[i] = true
			b := &e.pkg.Bundles[i]
			next = append(next, e.hops(b.Name, &installedBundle{name: b.Name, parsed: true, version: b.Version, release: b.Release}, usable, true, &work)...)
		}
		frontier = next
	}
	return seen
}

func (e *evaluation) graphBundle(i int, ahead, resolved bool) GraphBundle {
	b, f := &e.pkg.Bundles[i], e.flags[i]
	g := GraphBundle{Bundle: *newBundle(b), Channels: []string{}, Deprecated: f&deprecated != 0, BlockedBy: []string{}}
	for j := range e.pkg.Channels {
		c := &e.pkg.Channels[j]
		if slices.ContainsFunc(c.Entries, func(n catalog.Entry) bool { return n.Name == b.Name }) {
			g.Channels = append(g.Channels, c.Name)
		}
	}
	g.Installed = e.installed != nil && e.installed.name == b.Name && (!e.installed.parsed || e.installed.is(b))
	if f&usable == 0 {
		g.State = GraphUnusable
		return g
	}
	if f&inChannels == 0 {
		g.BlockedBy = append(g.BlockedBy, fieldChannels)
	}
	if f&inVersion == 0 {
		g.BlockedBy = append(g.BlockedBy, fieldVersion)
	}
	if f&reachable == 0 && !ahead {
		g.BlockedBy = append(g.BlockedBy, fieldPolicy)
	}
	switch {
	case resolved && i == e.best:
		g.State = GraphChosen
	case g.Installed:
		g.State = GraphInstalled
	case len(g.BlockedBy) > 0:
		g.State = GraphBlocked
	case f&reachable != 0:
		g.State = GraphQualifies
	default:
		g.State = GraphReachable
	}
	return g
}

// graphEdges lists the upgrades between bundles that the catalog has. One pair has one edge of each kind.
func (e *evaluation) graphEdges(g *Graph, at []int) {
	counts := map[GraphEdge]bool{}
	add := func(from, to int, by string, in bool) {
		if from < 0 || from == to {
			return
		}
		key := GraphEdge{From: at[from], To: at[to], By: by}
		if _, known := counts[key]; !known && len(counts) >= maxGraphEdges {
			g.Truncated = true
			return
		}
		counts[key] = counts[key] || in
	}
	ranges := map[string]semver.Range{}
	for i := range e.pkg.Channels {
		c := &e.pkg.Channels[i]
		in := len(e.req.channels) == 0 || slices.Contains(e.req.channels, c.Name)
		for j := range c.Entries {
			n := &c.Entries[j]
			if n.Bundle < 0 {
				continue
			}
			add(e.pkg.FirstBundle(n.Replaces), n.Bundle, "replaces", in)
			for _, s := range n.Skips {
				add(e.pkg.FirstBundle(s), n.Bundle, "skips", in)
			}
			if n.SkipRange == "" || n.BadSkipRange || g.Truncated {
				continue
			}
			if _, ok := ranges[n.SkipRange]; !ok {
				ranges[n.SkipRange], _ = semver.ParseRange(n.SkipRange)
			}
			if within := ranges[n.SkipRange]; within != nil {
				for k := range e.pkg.Bundles {
					if b := &e.pkg.Bundles[k]; b.Problem == "" && within(b.Version) {
						add(k, n.Bundle, "skipRange", in)
					}
				}
			}
		}
	}
	for key, in := range counts {
		key.Counts = in
		g.Edges = append(g.Edges, key)
	}
	slices.SortFunc(g.Edges, func(a, b GraphEdge) int {
		if a.From != b.From {
			return a.From - b.From
		}
		if a.To != b.To {
			return a.To - b.To
		}
		return strings.Compare(a.By, b.By)
	})
}
