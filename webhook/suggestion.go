package webhook

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/olmgate/olmgate/resolver"
)

// suggestionText is a suggestion as one line that can be pasted. The resolver's message names the field and the value
// already; where it does not, they are added.
func suggestionText(s resolver.Suggestion) string {
	message, field := clean(s.Message), clean(s.Field)
	if field != "" && strings.Contains(message, field) {
		return message
	}
	change := "set " + field + ": " + clean(pasteable(s.Value))
	if string(s.Value) == "null" || len(s.Value) == 0 {
		change = "remove " + field
	}
	return strings.TrimSpace(message + " " + change)
}

// pasteable is a JSON value with a space after each colon and comma, as people write flow YAML, which JSON is.
func pasteable(value json.RawMessage) string {
	var compact bytes.Buffer
	if json.Compact(&compact, value) != nil {
		return string(value)
	}
	var out bytes.Buffer
	quoted, escaped := false, false
	for _, c := range compact.Bytes() {
		out.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ':' || c == ','):
			out.WriteByte(' ')
		}
	}
	return out.String()
}
