package report

import (
	"cmp"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmgate/olmgate/resolver"
)

const (
	// graphAll is up to how many bundles a graph shows all of them.
	graphAll = 24
	// graphRows is how many bundles are shown of a larger package.
	graphRows = 26
	// graphFew is how many are shown at least.
	graphFew = 10
	// graphChannels is how many channels have a column.
	graphChannels = 6
	// graphPath is how many bundles of a way are shown.
	graphPath = 12
)

// Fields that keep bundles out, as in GraphBundle.BlockedBy.
const (
	fieldVersion  = "spec.source.catalog.version"
	fieldChannels = "spec.source.catalog.channels"
	fieldPolicy   = "spec.source.catalog.upgradeConstraintPolicy"
)

// graphView is what is drawn of a graph: the bundles and channels that matter for the extension.
type graphView struct {
	*resolver.Graph
	// rows from top to bottom, the newest first.
	rows []graphRow
	// columns are positions in Channels.
	columns []int
	// path is the shortest chain of upgrades from the installed bundle to what was chosen or asked for, as positions in
	// Bundles; none when there is no chain.
	path []int
	// installed and chosen are positions in Bundles, -1 for none.
	installed, chosen int
}

// graphRow is one line of a drawing.
type graphRow struct {
	// bundle is a position in Bundles, -1 when the row is none of them.
	bundle int
	// hidden counts bundles that are left out here, from first to last position.
	hidden, first, last int
	// absent marks the installed bundle that the catalog does not have.
	absent bool
}

func newGraphView(g *resolver.Graph) *graphView {
	v := &graphView{Graph: g, installed: -1, chosen: -1}
	for i := range g.Bundles {
		if g.Bundles[i].Installed && v.installed < 0 {
			v.installed = i
		}
		if g.Bundles[i].State == resolver.GraphChosen && v.chosen < 0 {
			v.chosen = i
		}
	}
	v.path = v.way()
	v.rows = v.fold(v.important())
	v.addAbsent()
	v.columns = v.chooseColumns()
	return v
}

// wanted reports whether the version and the channels that are asked for admit a bundle.
func (v *graphView) wanted(i int) bool {
	b := &v.Bundles[i]
	return b.State != resolver.GraphUnusable && !slices.Contains(b.BlockedBy, fieldVersion) && !slices.Contains(b.BlockedBy, fieldChannels)
}

// way is a shortest chain of upgrades that count, to the chosen bundle or else to the nearest that is asked for, the
// newest of several.
func (v *graphView) way() []int {
	if v.installed < 0 {
		return nil
	}
	next := map[int][]int{}
	for _, e := range v.Edges {
		if e.Counts && v.Bundles[e.To].State != resolver.GraphUnusable {
			next[e.From] = append(next[e.From], e.To)
		}
	}
	from := map[int]int{v.installed: -1}
	for level := []int{v.installed}; len(level) > 0; {
		var further []int
		for _, at := range level {
			for _, to := range slices.Backward(next[at]) { // the oldest first, as channels usually list them
				if _, seen := from[to]; !seen {
					from[to] = at
					further = append(further, to)
				}
			}
		}
		if target := v.target(further); target >= 0 {
			return trail(from, target)
		}
		level = further
	}
	return nil
}

// target is the end of the way among bundles that are equally far, -1 for none.
func (v *graphView) target(list []int) int {
	best := -1
	for _, i := range list {
		if i == v.chosen || v.chosen < 0 && v.wanted(i) && (best < 0 || i < best) {
			best = i
		}
	}
	return best
}

// trail follows a search back to where it began.
func trail(from map[int]int, target int) []int {
	var path []int
	for at := target; at >= 0; at = from[at] {
		path = append(path, at)
	}
	slices.Reverse(path)
	return path
}

// important are the positions to show, ascending: everything of a small package; of a large one where the extension
// stands, where it could go and the ends.
func (v *graphView) important() []int {
	n := len(v.Bundles)
	show := map[int]bool{}
	add := func(i int) {
		if i >= 0 && i < n && (n <= graphAll || len(show) < graphRows) {
			show[i] = true
		}
	}
	if n <= graphAll {
		for i := range n {
			add(i)
		}
	}
	add(v.installed)
	add(v.chosen)
	add(0)
	for i, at := range v.path {
		if i < graphPath/2 || len(v.path)-i <= graphPath/2 {
			add(at)
		}
	}
	v.addWanted(add)
	for _, at := range []int{v.installed, v.chosen} {
		if at >= 0 {
			add(at - 1)
			add(at + 1)
		}
	}
	v.addSteps(add)
	if at := v.absentAt(); at >= 0 {
		add(at - 1)
		add(at)
	}
	add(n - 1)
	v.addHeads(add)
	for i := 1; len(show) < min(graphFew, n); i++ {
		add(i)
	}
	return slices.Sorted(func(yield func(int) bool) {
		for i := range show {
			if !yield(i) {
				return
			}
		}
	})
}

// addWanted adds the newest bundles that are asked for, and the oldest.
func (v *graphView) addWanted(add func(int)) {
	var all []int
	for i := range v.Bundles {
		if v.wanted(i) {
			all = append(all, i)
		}
	}
	if len(all) == len(v.Bundles) {
		return
	}
	for _, i := range all[:min(3, len(all))] {
		add(i)
	}
	if len(all) > 0 {
		add(all[len(all)-1])
	}
}

// addSteps adds the newest bundles to which one upgrade leads from the installed one.
func (v *graphView) addSteps(add func(int)) {
	var steps []int
	for _, e := range v.Edges {
		if e.From == v.installed && e.Counts {
			steps = append(steps, e.To)
		}
	}
	slices.Sort(steps)
	steps = slices.Compact(steps)
	for _, i := range steps[:min(3, len(steps))] {
		add(i)
	}
}

// addHeads adds the newest bundle of the first channels.
func (v *graphView) addHeads(add func(int)) {
	for c, channel := range v.Channels {
		if c >= 2*graphChannels && !channel.Requested {
			continue
		}
		add(slices.IndexFunc(v.Bundles, func(b resolver.GraphBundle) bool { return slices.Contains(b.Channels, channel.Name) }))
	}
}

// fold makes rows of positions, with one for each run of others between them. A run of one is shown.
func (v *graphView) fold(show []int) []graphRow {
	var rows []graphRow
	at := 0
	gap := func(end int) {
		switch {
		case end-at == 1:
			rows = append(rows, graphRow{bundle: at})
		case end > at:
			rows = append(rows, graphRow{bundle: -1, hidden: end - at, first: at, last: end - 1})
		}
	}
	for _, i := range show {
		gap(i)
		rows = append(rows, graphRow{bundle: i})
		at = i + 1
	}
	gap(len(v.Bundles))
	return rows
}

// absentAt is the position before which the installed bundle belongs that the catalog does not have, -1 when it has it.
// Behind all others is where one belongs whose version cannot be read.
func (v *graphView) absentAt() int {
	if v.Installed == nil || v.installed >= 0 {
		return -1
	}
	installed, err := semver.Parse(v.Installed.Version)
	if err != nil {
		return len(v.Bundles)
	}
	for i := range v.Bundles {
		if b, err := semver.Parse(v.Bundles[i].Version); err == nil && b.LT(installed) {
			return i
		}
	}
	return len(v.Bundles)
}

// addAbsent puts a row of its own for the installed bundle that the catalog does not have.
func (v *graphView) addAbsent() {
	at := v.absentAt()
	if at < 0 {
		return
	}
	row := slices.IndexFunc(v.rows, func(r graphRow) bool { return r.bundle >= at || r.hidden > 0 && r.last >= at })
	if row < 0 {
		row = len(v.rows)
	}
	v.rows = slices.Insert(v.rows, row, graphRow{bundle: -1, absent: true})
}

// chooseColumns takes the channels that are asked for first, then the default, then those with the most shown
// bundles, by name.
func (v *graphView) chooseColumns() []int {
	weight := make([]int, len(v.Channels))
	order := make([]int, len(v.Channels))
	for c, channel := range v.Channels {
		order[c] = c
		for _, r := range v.rows {
			if r.bundle >= 0 && slices.Contains(v.Bundles[r.bundle].Channels, channel.Name) {
				weight[c]++
				if r.bundle == v.installed || r.bundle == v.chosen {
					weight[c] += 1000
				}
			}
		}
		if channel.Default {
			weight[c] += 10_000
		}
		if channel.Requested {
			weight[c] += 100_000
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight[b], weight[a]) })
	order = order[:min(len(order), graphChannels)]
	slices.SortStableFunc(order, func(a, b int) int {
		if weight[a] >= 10_000 || weight[b] >= 10_000 {
			return cmp.Compare(weight[b], weight[a])
		}
		return cmp.Compare(a, b)
	})
	return order
}

// fitting are the edges between shown bundles, one for each pair: the strongest, as what replaces says more than a range.
func (v *graphView) fitting() []resolver.GraphEdge {
	shown := map[int]bool{}
	for _, r := range v.rows {
		if r.bundle >= 0 {
			shown[r.bundle] = true
		}
	}
	type pair struct{ from, to int }
	best := map[pair]resolver.GraphEdge{}
	for _, e := range v.Edges {
		if !shown[e.From] || !shown[e.To] {
			continue
		}
		p := pair{e.From, e.To}
		if old, there := best[p]; !there || edgeRank(e) < edgeRank(old) {
			best[p] = e
		}
	}
	var list []resolver.GraphEdge
	for _, e := range best {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b resolver.GraphEdge) int {
		return cmp.Or(cmp.Compare(v.edgeOrder(a), v.edgeOrder(b)), cmp.Compare(span(a), span(b)), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return list
}

func span(e resolver.GraphEdge) int { return max(e.From-e.To, e.To-e.From) }

func edgeRank(e resolver.GraphEdge) int {
	rank := map[string]int{"replaces": 0, "skips": 1, "skipRange": 2}[e.By]
	if !e.Counts {
		rank += 10
	}
	return rank
}

// onPath reports whether an edge is part of the way.
func (v *graphView) onPath(e resolver.GraphEdge) bool {
	i := slices.Index(v.path, e.From)
	return i >= 0 && i+1 < len(v.path) && v.path[i+1] == e.To
}

// edgeOrder is which edges are drawn first while there is room: the way, then those from the installed bundle, then by
// kind, those that do not count last.
func (v *graphView) edgeOrder(e resolver.GraphEdge) int {
	switch {
	case v.onPath(e):
		return 0
	case e.From == v.installed && e.Counts:
		return 1
	}
	return 2 + edgeRank(e)
}
