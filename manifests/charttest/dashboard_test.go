package charttest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

type panel struct {
	ID          int
	Type, Title string
	Description string
	GridPos     struct{ X, Y, W, H int }
	Targets     []struct{ Expr string }
}

func TestTheDashboard(t *testing.T) {
	raw, err := os.ReadFile(manifests + "/components/prometheus/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		UID, Title string
		Panels     []panel
		Templating struct{ List []struct{ Name string } }
	}
	if err := json.Unmarshal(raw, &board); err != nil {
		t.Fatal(err)
	}
	metrics := known(t)
	variables := strings.NewReplacer("$namespace", "olmgate-system", "$__rate_interval", "5m")
	ids := map[int]bool{}
	taken := map[[2]int]string{}
	for _, p := range board.Panels {
		if ids[p.ID] {
			t.Errorf("two panels %d", p.ID)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%s lies over %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("%s says nothing", p.Title)
		}
		for _, target := range p.Targets {
			expression := variables.Replace(target.Expr)
			if strings.Contains(expression, "$") {
				t.Errorf("%s: an unknown variable in %s", p.Title, target.Expr)
			}
			checkMetrics(t, p.Title, expression, metrics)
		}
	}
	if len(board.Templating.List) != 2 {
		t.Errorf("variables: %v", board.Templating.List)
	}
}

// TestTheDashboardShowsEveryMetric looks for each metric of olmgate's in a panel.
func TestTheDashboardShowsEveryMetric(t *testing.T) {
	raw, err := os.ReadFile(manifests + "/components/prometheus/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range known(t) {
		if strings.HasPrefix(name, "olmgate_") && !strings.Contains(string(raw), name) {
			t.Errorf("no panel shows %s", name)
		}
	}
}
