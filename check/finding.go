package check

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/olmgate/olmgate/check/report"
)

// finding makes a finding about a field of an object.
func (o *object) finding(rule string, level report.Level, field, format string, args ...any) report.Finding {
	f := report.Finding{
		Rule: rule, Level: level, Message: fmt.Sprintf(format, args...), Kind: o.kind, Name: o.name, Field: field,
		Location: o.where(field), Fixes: []report.Fix{}, Docs: report.DocsOf(rule),
	}
	f.Fingerprint = fingerprint(&f)
	return f
}

// fingerprint does not depend on lines or words.
func fingerprint(f *report.Finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, f.File, f.Kind, f.Name, f.Field}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// distinguish gives each finding a fingerprint of its own: of several alike, those after the first another.
func distinguish(list []report.Finding) {
	seen := map[string]int{}
	for i := range list {
		f := &list[i]
		n := seen[f.Fingerprint]
		seen[f.Fingerprint]++
		if n > 0 {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", f.Fingerprint, n))
			f.Fingerprint = hex.EncodeToString(sum[:16])
		}
	}
}

// fix says what to set a field to; nil removes it.
func fix(field string, value any, format string, args ...any) report.Fix {
	raw, err := json.Marshal(value)
	if err != nil {
		raw = []byte("null")
	}
	return report.Fix{Field: field, Value: raw, Message: fmt.Sprintf(format, args...)}
}

// set is the usual fix: put a value into a field.
func set(field string, value any) report.Fix {
	return fix(field, value, "set %s: %s", field, flow(value))
}

// flow is a value as one writes it in a line of YAML.
func flow(value any) string {
	switch v := value.(type) {
	case string:
		if plain(v) {
			return v
		}
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, flow(k)+": "+flow(v[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return "null"
	}
	return string(raw)
}

// plain reports whether a text is itself without quotes in YAML.
func plain(s string) bool {
	if s == "" || strings.TrimSpace(s) != s || !unicode.IsLetter(rune(s[0])) {
		return false
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		return false
	}
	return !strings.ContainsAny(s, ":#,[]{}&*!|>'\"%@`\n\t")
}

// nearest is the known name that a wrong one may stand for, "" when none is near.
func nearest(name string, known []string) string {
	best, distance := "", 1+max(1, len(name)/3)
	for _, k := range known {
		if strings.EqualFold(k, name) {
			return k
		}
		if d := edits(strings.ToLower(name), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// edits counts the letters to change, insert, remove or swap.
func edits(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		two, one, now := rows[0], rows[1], rows[2]
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(one[j]+1, now[j-1]+1, one[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], two[j-2]+1)
			}
		}
		rows = [3][]int{one, now, two}
	}
	return rows[1][len(b)]
}
