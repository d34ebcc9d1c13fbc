package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/olmgate/olmgate/resolver"
)

// Measures of a drawing, in pixels of its own. All text is set in a font of one width, so its length is known.
const (
	drawRow     = 34
	drawLane    = 11
	drawLanes   = 5
	drawColumn  = 16
	drawLabel   = 136
	drawMargin  = 8
	versionSize = 13
	tagSize     = 10
	headSize    = 11
	headLetters = 18
)

// letters is how many characters of a size fit into a width; a character of any common font with one width is at most
// 0.61 of the size wide.
func letters(width, size int) int { return width * 100 / (size * 61) }

// drawing is a graph with every shape in its place.
type drawing struct {
	ID     string
	Title  string
	Desc   string
	Width  int
	Height int
	Bands  []box
	Lines  []line
	Edges  []edgeShape
	Nodes  []nodeShape
	Texts  []textShape
	Dots   []dot
	Legend []legendEntry
	// Notes say what is not drawn.
	Notes []string
}

type box struct{ X, Y, W, H int }

type line struct {
	X, Y1, Y2 int
	Class     string
}

type edgeShape struct {
	D, Arrow, Class, Title string
}

type nodeShape struct {
	X, Y        int
	Kind, Title string
}

type textShape struct {
	X, Y, Size           int
	Upright              bool
	Text, Class, Title   string
	length, above, below int
}

type dot struct {
	X, Y         int
	Class, Title string
}

type legendEntry struct{ Kind, Text string }

// pen draws one graph.
type pen struct {
	*graphView
	drawing
	node, label, columnsAt, top int
	lanes                       [drawLanes][]laneUse
	used                        map[string]bool
}

type laneUse struct{ from, to int }

func newDrawing(g *resolver.Graph, id string) *drawing {
	p := &pen{graphView: newGraphView(g), used: map[string]bool{}}
	edges, left := p.assign(p.fitting())
	lanes := 0
	for i := range p.lanes {
		if len(p.lanes[i]) > 0 {
			lanes = i + 1
		}
	}
	p.node = drawMargin + 4 + lanes*drawLane
	if lanes > 0 {
		p.node += 12
	}
	p.label = p.node + 13
	p.columnsAt = p.label + drawLabel + 10
	p.ID = id
	p.Width = p.columnsAt + len(p.columns)*drawColumn
	p.heads()
	p.Height = p.top + len(p.rows)*drawRow + drawMargin
	p.bands()
	p.guides()
	for _, e := range edges {
		p.edge(e)
	}
	for i := range p.rows {
		p.row(i)
	}
	p.describe(left)
	return &p.drawing
}

// y is the middle of a row.
func (p *pen) y(row int) int { return p.top + row*drawRow + drawRow/2 }

func (p *pen) rowOf(bundle int) int {
	return slices.IndexFunc(p.rows, func(r graphRow) bool { return r.bundle == bundle })
}

// placed is an edge with the rows that it joins and its lane, -1 for neighbours.
type placed struct {
	resolver.GraphEdge
	from, to, lane int
}

// assign gives each edge a lane in which it meets no other, and counts those that have no room. Ranges are drawn only
// where they matter, or where there are few.
func (p *pen) assign(edges []resolver.GraphEdge) (list []placed, left int) {
	busy := len(edges) > 3*len(p.rows)/2
	for _, e := range edges {
		at := placed{e, p.rowOf(e.From), p.rowOf(e.To), -1}
		low, high := min(at.from, at.to), max(at.from, at.to)
		if busy && e.By == "skipRange" && !p.onPath(e) && e.From != p.installed {
			left++
			continue
		}
		if high-low > 1 {
			at.lane = slices.IndexFunc(p.lanes[:], func(uses []laneUse) bool {
				return !slices.ContainsFunc(uses, func(u laneUse) bool { return low < u.to && u.from < high })
			})
			if at.lane < 0 {
				left++
				continue
			}
			p.lanes[at.lane] = append(p.lanes[at.lane], laneUse{low, high})
		}
		list = append(list, at)
	}
	slices.Reverse(list) // the most important on top
	return list, left
}

// heads writes the names of the channels upright above their columns.
func (p *pen) heads() {
	longest := 0
	var names []string
	for _, c := range p.columns {
		name := shownShort(p.Channels[c].Name, headLetters)
		if p.Channels[c].Default {
			name = shownShort(p.Channels[c].Name, headLetters-2) + " *"
		}
		names = append(names, name)
		longest = max(longest, utf8.RuneCountInString(name))
	}
	p.top = drawMargin + 14 + (longest*headSize*61+99)/100
	for i, c := range p.columns {
		channel := &p.Channels[c]
		class, title := "head", "channel "+Clean(channel.Name)
		if channel.Default {
			title += ", the default"
			p.used["default"] = true
		}
		if channel.Requested {
			class += " asked"
			title += ", asked for"
			p.used["channel"] = true
		}
		if channel.Deprecated {
			class += " old"
			title += ", deprecated"
			p.used["deprecated"] = true
		}
		p.text(textShape{X: p.column(i) + 4, Y: p.top - 10, Size: headSize, Upright: true, Text: names[i], Class: class, Title: title})
	}
}

func (p *pen) column(i int) int { return p.columnsAt + i*drawColumn + drawColumn/2 - 2 }

// text adds a text with its extent.
func (p *pen) text(t textShape) {
	t.length = (utf8.RuneCountInString(t.Text)*t.Size*61 + 99) / 100
	t.above, t.below = t.Size*85/100, t.Size*25/100
	p.Texts = append(p.Texts, t)
}

// extent is the room that a text takes.
func (t *textShape) extent() box {
	if t.Upright {
		return box{t.X - t.above, t.Y - t.length, t.above + t.below, t.length}
	}
	return box{t.X, t.Y - t.above, t.length, t.above + t.below}
}

// bands shade the rows that are asked for, when that is not all of them.
func (p *pen) bands() {
	all := true
	for i := range p.Bundles {
		all = all && p.wanted(i)
	}
	if all {
		return
	}
	for i, r := range p.rows {
		if r.bundle >= 0 && p.wanted(r.bundle) {
			p.Bands = append(p.Bands, box{2, p.y(i) - drawRow/2 + 1, p.Width - 4, drawRow - 2})
			p.used["wanted"] = true
		}
	}
}

// guides are the lines of the channels.
func (p *pen) guides() {
	for i, c := range p.columns {
		class := "guide"
		if p.Channels[c].Requested {
			class += " asked"
		}
		p.Lines = append(p.Lines, line{p.column(i), p.top - 4, p.Height - drawMargin, class})
	}
}

// edge draws an upgrade. It leaves a bundle at its side that looks to the other one, and ends with an arrow.
func (p *pen) edge(e placed) {
	p.used[e.By] = true
	class := "edge " + e.By
	switch {
	case p.onPath(e.GraphEdge):
		class += " path"
		p.used["path"] = true
	case !e.Counts:
		class += " faint"
		p.used["faint"] = true
	}
	up := 1 // towards the newer
	if e.to > e.from {
		up = -1
	}
	s := edgeShape{Class: class, Title: p.edgeTitle(e.GraphEdge)}
	if e.lane < 0 {
		x, y1, y2 := p.node, p.y(e.from)-up*8, p.y(e.to)+up*8
		s.D = fmt.Sprintf("M%d %dV%d", x, y1, y2+up*4)
		s.Arrow = fmt.Sprintf("M%d %dl-4 %dh8z", x, y2, up*7)
	} else {
		x, lane := p.node-8, p.node-22-e.lane*drawLane
		y1, y2 := p.y(e.from)-up*4, p.y(e.to)+up*4
		s.D = fmt.Sprintf("M%d %dH%dQ%d %d %d %dV%dQ%d %d %d %dH%d",
			x, y1, lane+5, lane, y1, lane, y1-up*5, y2+up*5, lane, y2, lane+5, y2, x-3)
		s.Arrow = fmt.Sprintf("M%d %dl-7 -4v8z", x+1, y2)
	}
	p.Edges = append(p.Edges, s)
}

func (p *pen) edgeTitle(e resolver.GraphEdge) string {
	title := p.version(e.From) + " to " + p.version(e.To) + " by " + e.By
	if !e.Counts {
		title += ", in a channel that is not asked for"
	}
	return title
}

func (p *pen) version(i int) string {
	return Clean(SideText(&Side{Outcome: resolver.OutcomeResolved, Bundle: &p.Bundles[i].Bundle}))
}

// row draws one line: the bundle, its label and its channels.
func (p *pen) row(i int) {
	r, y := p.rows[i], p.y(i)
	switch {
	case r.absent:
		title := "installed: " + Clean(p.Installed.Name) + ", which the catalog does not have"
		p.Nodes = append(p.Nodes, nodeShape{p.node, y, "absent", title})
		p.used["absent"] = true
		p.labels(y, Clean(p.Installed.Version), "installed, not here", "version", title)
		return
	case r.hidden > 0:
		p.Nodes = append(p.Nodes, nodeShape{p.node, y, "gap", ""})
		between := p.version(r.last) + " – " + p.version(r.first)
		if utf8.RuneCountInString(between) > letters(drawLabel, tagSize) {
			between = ""
		}
		p.labels(y, fmt.Sprintf("… %d more", r.hidden), between, "more", "")
		return
	}
	b := &p.Bundles[r.bundle]
	kind := p.kind(r.bundle)
	p.used[kind] = true
	title := Clean(b.Name) + ": " + stateText(b)
	p.Nodes = append(p.Nodes, nodeShape{p.node, y, kind, title})
	class := "version " + kind
	if b.Deprecated {
		class += " old"
		p.used["deprecated"] = true
	}
	p.labels(y, p.version(r.bundle), tag(b), class, title)
	for c, at := range p.columns {
		if channel := &p.Channels[at]; slices.Contains(b.Channels, channel.Name) {
			class := "dot"
			if channel.Requested {
				class += " asked"
			}
			p.Dots = append(p.Dots, dot{p.column(c), y, class, Clean(b.Name) + " is in " + Clean(channel.Name)})
		}
	}
}

// labels writes a version and below it a tag.
func (p *pen) labels(y int, version, tag, class, title string) {
	at := y + 5
	if tag != "" {
		at = y - 1
		p.text(textShape{X: p.label, Y: y + 11, Size: tagSize, Text: shownShort(tag, letters(drawLabel, tagSize)), Class: "tag", Title: title})
	}
	p.text(textShape{X: p.label, Y: at, Size: versionSize, Text: shownShort(version, letters(drawLabel, versionSize)), Class: class, Title: title})
}

// kind is the shape of a bundle.
func (p *pen) kind(i int) string {
	b := &p.Bundles[i]
	if b.State == resolver.GraphChosen && b.Installed {
		return "stays"
	}
	if b.Installed {
		return "installed"
	}
	return strings.ToLower(string(b.State))
}

// tag is what a bundle is, in the few letters that fit below its version.
func tag(b *resolver.GraphBundle) string {
	switch {
	case b.State == resolver.GraphChosen && b.Installed:
		return "installed, chosen"
	case b.State == resolver.GraphChosen:
		return "chosen"
	case b.Installed:
		return "installed"
	case b.State == resolver.GraphBlocked:
		if len(b.BlockedBy) == 1 {
			return "blocked: " + blockers(b)[0]
		}
		return strings.ReplaceAll(strings.Join(blockers(b), ", "), "no path", "path")
	case b.State == resolver.GraphQualifies:
		return "qualifies"
	case b.State == resolver.GraphReachable:
		return "later"
	}
	return "no usable version"
}

// blockers are the fields that keep a bundle out, in a word each.
func blockers(b *resolver.GraphBundle) []string {
	words := map[string]string{fieldChannels: "channel", fieldVersion: "version", fieldPolicy: "no path"}
	var list []string
	for _, f := range b.BlockedBy {
		if w, known := words[f]; known {
			list = append(list, w)
		} else {
			list = append(list, Clean(f))
		}
	}
	return list
}

// stateText is what a bundle is, in words.
func stateText(b *resolver.GraphBundle) string {
	text := ""
	switch b.State {
	case resolver.GraphChosen:
		text = "chosen"
	case resolver.GraphQualifies:
		text = "qualifies, a better one is chosen or several catalogs tie"
	case resolver.GraphReachable:
		text = "admitted, after more than one upgrade"
	case resolver.GraphUnusable:
		text = "has no usable version"
	}
	if b.Installed {
		text = strings.TrimSuffix("installed, "+text, ", ")
	}
	if len(b.BlockedBy) > 0 {
		text = strings.TrimPrefix(text+", blocked by "+strings.Join(blockers(b), ", "), ", ")
	}
	if b.Deprecated {
		text += ", deprecated"
	}
	return text
}

// legend are all entries, in order. A drawing has those that it uses.
var legend = []legendEntry{
	{"installed", "installed"},
	{"stays", "installed, and chosen again"},
	{"absent", "installed, not in this catalog"},
	{"chosen", "chosen"},
	{"qualifies", "qualifies"},
	{"reachable", "later: more than one upgrade away"},
	{"blocked", "blocked: its second line says by what"},
	{"unusable", "no usable version"},
	{"wanted", "shaded: version and channels admit it"},
	{"deprecated", "struck out: deprecated"},
	{"path", "a shortest way from what is installed"},
	{"replaces", "upgrade by replaces"},
	{"skips", "upgrade by skips"},
	{"skipRange", "upgrade by skipRange"},
	{"faint", "upgrade that does not count: its channel is not asked for"},
	{"channel", "underlined: channel that is asked for"},
	{"default", "* default channel"},
}

// describe adds the words: title, legend, and what is not drawn.
func (p *pen) describe(left int) {
	p.Title = "Upgrades of " + Clean(p.Package) + " in catalog " + Clean(p.Catalog)
	p.Desc = count(len(p.Bundles), "bundle") + " in " + count(len(p.Channels), "channel") + ", the newest on top."
	if p.Installed != nil {
		p.Desc += " Installed: " + Clean(p.Installed.Version) + "."
	}
	if p.chosen >= 0 {
		p.Desc += " Chosen: " + p.version(p.chosen) + "."
	}
	if len(p.path) > 1 {
		var steps []string
		for i, at := range p.path {
			if len(p.path) > graphPath && i == graphPath/2 {
				steps = append(steps, "…")
			}
			if len(p.path) <= graphPath || i < graphPath/2 || len(p.path)-i <= graphPath/2 {
				steps = append(steps, p.version(at))
			}
		}
		p.Desc += " A shortest way: " + strings.Join(steps, ", ") + "."
	}
	for _, e := range legend {
		if p.used[e.Kind] {
			p.Legend = append(p.Legend, e)
		}
	}
	if n := len(p.Channels) - len(p.columns); n > 0 {
		p.Notes = append(p.Notes, count(n, "more channel")+" not drawn")
	}
	if left > 0 {
		p.Notes = append(p.Notes, count(left, "more upgrade")+" between these bundles not drawn")
	}
	if p.Truncated {
		p.Notes = append(p.Notes, "the catalog has more upgrades than are looked at")
	}
}
