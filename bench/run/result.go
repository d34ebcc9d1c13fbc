package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
)

// result is one line of the table.
type result struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Peer is the peer's value in the same unit, measured in the same run; 0 when there is none.
	Peer float64 `json:"peer"`
	// Ratio is Value by Peer, 0 without a peer.
	Ratio float64 `json:"ratio"`
	// Goal says what is asked for, "" when the line is for information.
	Goal string `json:"goal"`
	Met  bool   `json:"met"`
}

// against adds a result that is judged by its ratio to a peer.
func (b *bench) against(name string, value, peer float64, unit, goal string, met func(ratio float64) bool) {
	r := result{Name: name, Value: value, Unit: unit, Peer: peer, Goal: goal, Met: true}
	if peer > 0 {
		r.Ratio = value / peer
	}
	if met != nil {
		r.Met = met(r.Ratio)
	}
	b.results = append(b.results, r)
}

// alone adds a result that is judged by itself.
func (b *bench) alone(name string, value float64, unit, goal string, met bool) {
	b.results = append(b.results, result{Name: name, Value: value, Unit: unit, Goal: goal, Met: met})
}

func (b *bench) report() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVALUE\tPEER\tRATIO\tGOAL\tMET")
	for _, r := range b.results {
		peer, ratio, met := "", "", ""
		if r.Peer > 0 {
			peer, ratio = fmt.Sprintf("%.4g %s", r.Peer, r.Unit), fmt.Sprintf("%.3g", r.Ratio)
		}
		if r.Goal != "" {
			met = map[bool]string{true: "yes", false: "NO"}[r.Met]
		}
		fmt.Fprintf(w, "%s\t%.4g %s\t%s\t%s\t%s\t%s\n", r.Name, r.Value, r.Unit, peer, ratio, r.Goal, met)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(map[string]any{"results": b.results}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(b.out, append(raw, '\n'), 0o644)
}

// median of the values, which it sorts.
func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile of the values, which it sorts.
func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[min(len(v)-1, int(q*float64(len(v))))]
}
