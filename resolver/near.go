package resolver

import (
	"cmp"
	"slices"
	"strings"
)

// near returns up to most of the names that someone who wrote got may have meant, the likeliest first.
func near(got string, names []string, most int) []string {
	type hit struct {
		name     string
		distance int
	}
	var hits []hit
	// The suffix that nearly every package has says nothing about likeness.
	limit := max(2, len(strings.TrimSuffix(got, "-operator"))/4)
	for _, n := range names {
		if n == got || n == "" {
			continue
		}
		d := limit + 1
		if len(n)-len(got) <= limit && len(got)-len(n) <= limit {
			d = distance(got, n, limit)
		}
		if d > limit && len(got) >= 3 && (strings.HasPrefix(n, got) || strings.HasPrefix(got, n) && len(n) >= 3 || strings.HasSuffix(n, "-"+got)) {
			d = limit // a part of the name was left out or added
		}
		if d <= limit {
			hits = append(hits, hit{n, d})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name)) })
	hits = slices.Compact(hits)
	list := make([]string, 0, min(most, len(hits)))
	for _, h := range hits[:min(most, len(hits))] {
		list = append(list, h.name)
	}
	return list
}

// distance counts the insertions, deletions, substitutions and swaps of neighbours that turn a into b, bytewise. It
// gives up beyond limit.
func distance(a, b string, limit int) int {
	const longest = 256 // names are at most 253 long where the API server has looked at them
	if len(a) > longest || len(b) > longest {
		return limit + 1
	}
	var rows [3][longest + 1]int
	before, last, now := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			now[j] = d
			least = min(least, d)
		}
		if least > limit {
			return limit + 1
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
