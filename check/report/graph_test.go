package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"pgregory.net/rapid"

	"github.com/olmgate/olmgate/resolver"
)

// drawFaults are texts on each other, and shapes outside of the drawing.
func drawFaults(d *drawing) (faults []string) {
	meet := func(a, b box) bool { return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H }
	inside := func(b box) bool { return b.X >= 0 && b.Y >= 0 && b.X+b.W <= d.Width && b.Y+b.H <= d.Height }
	for i := range d.Texts {
		a := &d.Texts[i]
		if !inside(a.extent()) {
			faults = append(faults, fmt.Sprintf("%q is outside", a.Text))
		}
		for j := range d.Texts[:i] {
			if b := &d.Texts[j]; meet(a.extent(), b.extent()) {
				faults = append(faults, fmt.Sprintf("%q and %q are on each other", a.Text, b.Text))
			}
		}
		for _, n := range d.Nodes {
			if meet(a.extent(), box{n.X - 8, n.Y - 8, 16, 16}) {
				faults = append(faults, fmt.Sprintf("%q is on a bundle", a.Text))
			}
		}
		for _, o := range d.Dots {
			if meet(a.extent(), box{o.X - 3, o.Y - 3, 6, 6}) {
				faults = append(faults, fmt.Sprintf("%q is on a channel", a.Text))
			}
		}
	}
	for _, n := range d.Nodes {
		if !inside(box{n.X - 8, n.Y - 8, 16, 16}) {
			faults = append(faults, fmt.Sprintf("%s is outside", n.Kind))
		}
	}
	if d.Width > 336 {
		faults = append(faults, fmt.Sprintf("it is %d wide, and a phone shows 336", d.Width))
	}
	return faults
}

func graphs(t testing.TB, r *Report) []resolver.Graph {
	t.Helper()
	var list []resolver.Graph
	for _, e := range r.Extensions {
		list = append(list, e.Graphs()...)
	}
	if len(list) == 0 {
		t.Fatal("there are no graphs")
	}
	return list
}

func TestDrawingsHaveRoomForEverything(t *testing.T) {
	for _, g := range append(graphs(t, sample(t)), graphs(t, largeReport(t))...) {
		if faults := drawFaults(newDrawing(&g, "g")); len(faults) > 0 {
			t.Errorf("%s: %q", g.Package, faults)
		}
	}
}

// TestAnyGraphCanBeDrawn draws what no catalog should hold.
func TestAnyGraphCanBeDrawn(t *testing.T) {
	states := []resolver.GraphState{resolver.GraphInstalled, resolver.GraphChosen, resolver.GraphQualifies, resolver.GraphReachable, resolver.GraphBlocked, resolver.GraphUnusable, "New"}
	name := rapid.OneOf(rapid.StringN(0, 40, -1), rapid.SampledFrom([]string{hostile, "1.2.3", "10.20.30-rc.1.2.3.4.5.6.7.8"}))
	rapid.Check(t, func(rt *rapid.T) {
		g := resolver.Graph{Package: name.Draw(rt, "package"), Catalog: name.Draw(rt, "catalog")}
		for i := range rapid.IntRange(0, 12).Draw(rt, "channels") {
			g.Channels = append(g.Channels, resolver.GraphChannel{
				Name: fmt.Sprint(i) + name.Draw(rt, "channel"), Default: rapid.Bool().Draw(rt, "default"), Requested: rapid.Bool().Draw(rt, "requested"),
			})
		}
		n := rapid.IntRange(0, 60).Draw(rt, "bundles")
		for range n {
			b := resolver.GraphBundle{
				Bundle: resolver.Bundle{Name: name.Draw(rt, "name"), Version: name.Draw(rt, "version"), Release: rapid.SampledFrom([]string{"", "2", hostile}).Draw(rt, "release")},
				State:  rapid.SampledFrom(states).Draw(rt, "state"), Installed: rapid.Bool().Draw(rt, "installed"), Deprecated: rapid.Bool().Draw(rt, "deprecated"),
				BlockedBy: rapid.SliceOfN(rapid.SampledFrom([]string{fieldVersion, fieldChannels, fieldPolicy, hostile}), 0, 4).Draw(rt, "blocked"),
			}
			for _, c := range g.Channels {
				if rapid.Bool().Draw(rt, "in") {
					b.Channels = append(b.Channels, c.Name)
				}
			}
			g.Bundles = append(g.Bundles, b)
		}
		for range rapid.IntRange(0, 80).Draw(rt, "edges") {
			if n > 0 {
				g.Edges = append(g.Edges, resolver.GraphEdge{
					From: rapid.IntRange(0, n-1).Draw(rt, "from"), To: rapid.IntRange(0, n-1).Draw(rt, "to"),
					By: rapid.SampledFrom([]string{"replaces", "skips", "skipRange"}).Draw(rt, "by"), Counts: rapid.Bool().Draw(rt, "counts"),
				})
			}
		}
		if rapid.Bool().Draw(rt, "is installed") {
			g.Installed = &resolver.Bundle{Name: name.Draw(rt, "installed name"), Version: name.Draw(rt, "installed version")}
		}
		if faults := drawFaults(newDrawing(&g, "g")); len(faults) > 0 {
			rt.Errorf("%q", faults)
		}
	})
}

func TestALargePackageIsFolded(t *testing.T) {
	r := largeReport(t)
	for i, g := range graphs(t, r) {
		v := newGraphView(&g)
		hidden, shown := 0, 0
		for _, row := range v.rows {
			hidden += row.hidden
			if row.bundle >= 0 {
				shown++
			}
		}
		if hidden+shown != 400 || shown > graphRows+12 || shown < 8 {
			t.Errorf("graph %d: %d shown, %d hidden", i, shown, hidden)
		}
		for _, at := range append([]int{v.installed, v.chosen}, v.path...) {
			if at >= 0 && len(v.path) <= graphPath && !slices.ContainsFunc(v.rows, func(r graphRow) bool { return r.bundle == at }) {
				t.Errorf("graph %d: %s must be shown", i, g.Bundles[at].Name)
			}
		}
	}
}

func TestTheWayIsAShortestOne(t *testing.T) {
	for name, want := range map[string]string{"kiln-prod": "1.0.0 1.1.0 2.1.0", "kiln-dev": "1.1.0 2.1.0", "kiln-test": "", "kiln-old": ""} {
		for _, e := range sample(t).Extensions {
			if e.Verdict.Extension != name {
				continue
			}
			g := e.Graphs()[0]
			var way []string
			for _, at := range newGraphView(&g).path {
				way = append(way, g.Bundles[at].Version)
			}
			if got := strings.Join(way, " "); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
}

// TestAnInstalledBundleThatIsGoneIsShown puts it where its version belongs.
func TestAnInstalledBundleThatIsGoneIsShown(t *testing.T) {
	for version, want := range map[string]int{"1.5.0": 4, "99.0.0": 0, "0.0.1": 8, "no version": 8} {
		e := judged(t, "kiln", kiln(), ocv1.CatalogFilter{PackageName: "kiln-operator"}, &ocv1.BundleMetadata{Name: "gone", Version: "1.5.0"}, in("a.yaml", 1, 1, 1))
		g := e.Graphs()[0]
		g.Installed.Version = version
		rows := newGraphView(&g).rows
		if at := slices.IndexFunc(rows, func(r graphRow) bool { return r.absent }); at != want {
			t.Errorf("%s is in row %d, want %d", version, at, want)
		}
	}
}
