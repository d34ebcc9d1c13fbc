package check

import (
	"strconv"
	"strings"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/olmgate/olmgate/check/report"
)

// join adds a key to a path. A key with a period is put into brackets.
func join(path, key string) string {
	switch {
	case strings.ContainsAny(key, ".[]/"):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// steps cuts a path such as spec.channels[0] or metadata.labels[example.com/a] into keys and positions.
func steps(path string) []string {
	var list []string
	for path != "" {
		switch path[0] {
		case '.':
			path = path[1:]
		case '[':
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return append(list, path[1:])
			}
			list = append(list, strings.Trim(path[1:end], `"'`))
			path = path[end+1:]
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			list = append(list, path[:end])
			path = path[end:]
		}
	}
	return list
}

// mark is where a part of an object stands. It is all that is kept of a document: nodes take several times the memory.
type mark struct {
	// key is the key in a mapping, or the number in a list.
	key string
	// text is a number or truth value as it is written, "" for everything else.
	text string
	// line and column are those of the key, or of the item of a list; end is the column behind it, 0 when unknown.
	line, column, end int32
	parts             []mark
}

// newMark notes where a node and its parts stand. The converter has seen to it that aliases end.
func newMark(key string, at, value *yamlv3.Node) mark {
	m := mark{key: key, line: int32(at.Line), column: int32(at.Column)}
	if at.Kind == yamlv3.ScalarNode && !strings.Contains(at.Value, "\n") {
		width := utf8.RuneCountInString(at.Value)
		if at.Style&(yamlv3.DoubleQuotedStyle|yamlv3.SingleQuotedStyle) != 0 {
			width += 2
		}
		m.end = m.column + int32(max(width, 1))
	}
	value = followed(value)
	switch {
	case value == nil:
	case value.Kind == yamlv3.MappingNode:
		m.parts = make([]mark, 0, len(value.Content)/2)
		m.add(value, map[string]bool{})
	case value.Kind == yamlv3.SequenceNode:
		m.parts = make([]mark, 0, len(value.Content))
		for i, item := range value.Content {
			m.parts = append(m.parts, newMark(strconv.Itoa(i), item, item))
		}
	case value.ShortTag() != "!!str" && value.ShortTag() != "!!null":
		m.text = value.Value
	}
	return m
}

// add notes the keys of a mapping: its own, of which the last of a name counts, then those that it merges in.
func (m *mark) add(n *yamlv3.Node, known map[string]bool) {
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		key := followed(n.Content[i])
		if key == nil || key.ShortTag() == "!!merge" || known[key.Value] {
			continue
		}
		known[key.Value] = true
		m.parts = append(m.parts, newMark(key.Value, n.Content[i], n.Content[i+1]))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := followed(n.Content[i]); key == nil || key.ShortTag() != "!!merge" {
			continue
		}
		from := followed(n.Content[i+1])
		list := []*yamlv3.Node{from}
		if from != nil && from.Kind == yamlv3.SequenceNode {
			list = from.Content
		}
		for _, other := range list {
			if other = followed(other); other != nil && other.Kind == yamlv3.MappingNode {
				m.add(other, known)
			}
		}
	}
}

// find is where a field stands, or its nearest parent; whole is whether the field itself is there.
func (m *mark) find(path string) (at *mark, whole bool) {
	at = m
	for _, step := range steps(path) {
		next := at.part(step)
		if next == nil {
			return at, false
		}
		at = next
	}
	return at, true
}

func (m *mark) part(key string) *mark {
	for i := range m.parts {
		if m.parts[i].key == key {
			return &m.parts[i]
		}
	}
	return nil
}

// in is the place in a file.
func (m *mark) in(file string, document int) report.Location {
	l := report.Location{File: file, Line: int(m.line), Column: int(m.column), Document: document}
	if m.end > 0 {
		l.EndLine, l.EndColumn = l.Line, int(m.end)
	}
	return l
}

// member is the value of a key of a mapping, nil when there is none. Of keys that stand twice the last counts.
func member(n *yamlv3.Node, key string) *yamlv3.Node {
	var value *yamlv3.Node
	if n = followed(n); n != nil && n.Kind == yamlv3.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k := followed(n.Content[i]); k != nil && k.Value == key {
				value = n.Content[i+1]
			}
		}
	}
	return followed(value)
}

// maxMerges bounds how far merge keys lead.
const maxMerges = 16

// inherited is a member, or that of a mapping that a merge key names.
func inherited(n *yamlv3.Node, key string, left int) *yamlv3.Node {
	if v := member(n, key); v != nil || left == 0 {
		return v
	}
	from := member(n, "<<")
	if from == nil {
		return nil
	}
	list := []*yamlv3.Node{from}
	if from.Kind == yamlv3.SequenceNode {
		list = from.Content
	}
	for _, other := range list {
		if v := inherited(followed(other), key, left-1); v != nil {
			return v
		}
	}
	return nil
}

// followed is what an alias stands for.
func followed(n *yamlv3.Node) *yamlv3.Node {
	for hops := 0; n != nil && n.Kind == yamlv3.AliasNode && hops < 16; hops++ {
		n = n.Alias
	}
	return n
}
