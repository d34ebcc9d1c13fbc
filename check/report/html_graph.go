package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgate/olmgate/resolver"
)

// htmlGraph is a drawing with the table of its bundles, which says the same to who cannot see it.
type htmlGraph struct {
	Drawing   *drawing
	RowsTitle string
	Rows      []htmlRow
}

type htmlRow struct{ Version, State, Name, Channels, From string }

// htmlDrawer makes the graphs of a page, within its bounds.
type htmlDrawer struct {
	graphs, rows int
}

func (d *htmlDrawer) draw(g *htmlGroup, e *Extension) {
	if e == nil || e.Graphs == nil {
		return
	}
	if d.graphs >= htmlGraphs {
		g.NotDrawn = fmt.Sprintf("The graph is not drawn: a page holds %d.", htmlGraphs)
		return
	}
	list := e.Graphs()
	if len(list) > htmlGroupGraphs {
		g.NotDrawn = fmt.Sprintf("The package is in %d catalogs; the graphs of %d are drawn.", len(list), htmlGroupGraphs)
		list = list[:htmlGroupGraphs]
	}
	for i := range list {
		d.graphs++
		g.Graphs = append(g.Graphs, d.graph(&list[i], fmt.Sprintf("graph-%d", d.graphs)))
	}
}

func (d *htmlDrawer) graph(g *resolver.Graph, id string) htmlGraph {
	h := htmlGraph{Drawing: newDrawing(g, id), RowsTitle: "All " + count(len(g.Bundles), "bundle") + " of " + Clean(g.Package) + " in catalog " + Clean(g.Catalog)}
	all := len(g.Bundles) <= d.rows
	shown := map[int]bool{}
	if !all {
		v := newGraphView(g)
		for _, r := range v.rows {
			shown[r.bundle] = true
		}
		h.RowsTitle = "The bundles that are drawn of " + Clean(g.Package) + " in catalog " + Clean(g.Catalog)
	}
	into := make([][]resolver.GraphEdge, len(g.Bundles))
	for _, e := range g.Edges {
		into[e.To] = append(into[e.To], e)
	}
	for i := range g.Bundles {
		if all || shown[i] {
			h.Rows = append(h.Rows, newHTMLRow(g, i, into[i]))
			d.rows--
		}
	}
	return h
}

func newHTMLRow(g *resolver.Graph, i int, into []resolver.GraphEdge) htmlRow {
	b := &g.Bundles[i]
	row := htmlRow{Version: Clean(SideText(&Side{Outcome: resolver.OutcomeResolved, Bundle: &b.Bundle})), State: stateText(b), Name: Clean(b.Name)}
	row.Channels = htmlShort(b.Channels, 8)
	var parts []string
	for _, by := range []string{"replaces", "skips", "skipRange"} {
		var from []string
		for _, e := range into {
			if e.By == by {
				from = append(from, g.Bundles[e.From].Version)
			}
		}
		if len(from) > 0 {
			slices.Reverse(from)
			parts = append(parts, by+" "+htmlShort(from, 4))
		}
	}
	row.From = strings.Join(parts, "; ")
	return row
}

// htmlShort lists the first n names and counts the others.
func htmlShort(names []string, n int) string {
	text := Clean(strings.Join(names[:min(n, len(names))], ", "))
	if len(names) > n {
		text += fmt.Sprintf(" and %d more", len(names)-n)
	}
	return text
}
