package config

import (
	"slices"
	"strings"
)

// didYouMean is a hint at the nearest of the known names, "" when none is near.
func didYouMean(name string, known []string) string {
	best, distance := "", len(name)/3+2
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := editDistance(strings.ToLower(name), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}

// editDistance is how many characters must be put in, taken out or replaced to get from a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
