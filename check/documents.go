package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"
)

// maxInput bounds one file, in bytes: thousands of objects.
const maxInput = 32 << 20

// maxValues bounds about how many values a document has, once aliases are followed.
const maxValues = 2_000_000

// spareValues are how many more values than characters a document may have.
const spareValues = 10_000

// document is one YAML document of a file, or several JSON objects one after the other.
type document struct {
	text []byte
	line int // of its first byte, from 1
	// number of the document within the file, from 0.
	number int
}

// split cuts a file at the separators of YAML documents. No JSON value is cut by that.
func split(text []byte) []document {
	var list []document
	start, first, line := 0, 1, 1
	cut := func(end int) {
		if d := text[start:end]; !onlyComments(d) {
			list = append(list, document{text: d, line: first, number: len(list)})
		}
	}
	for at := 0; at < len(text); line++ {
		end := len(text)
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		if separates(text[at:end]) && !directives(text[start:at]) {
			cut(at)
			start, first = at, line
			if text[at] == '.' {
				start, first = end, line+1
			}
		}
		at = end
	}
	cut(len(text))
	return list
}

// separates reports whether a line begins or ends a document.
func separates(line []byte) bool {
	if len(line) < 3 || line[0] != '-' && line[0] != '.' {
		return false
	}
	line = bytes.TrimRight(line, "\r\n")
	for _, mark := range []string{"---", "..."} {
		if rest, ok := bytes.CutPrefix(line, []byte(mark)); ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t') {
			return true
		}
	}
	return false
}

// onlyComments reports whether there is no value.
func onlyComments(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("---")))
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}

// directives reports whether there are directives and comments only, which belong to the document that follows.
func directives(text []byte) bool {
	found := false
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		found = found || len(line) > 0 && line[0] == '%'
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return found
}

// marks are what a document must contain to be of a kind that is read. Others pass by unread.
var marks = [][]byte{[]byte("ClusterExtension"), []byte("ClusterCatalog"), []byte("operatorframework.io/v1alpha1")}

func marked(text []byte) bool {
	return slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Contains(text, m) })
}

// veils are ways to write a text that hide it from a search.
var veils = [][]byte{[]byte(`\u`), []byte(`\U`), []byte(`\x`), []byte("\\\n"), []byte("\\\r\n"), []byte("!!binary")}

// veiled reports whether a text may hold a mark that a search does not find.
func veiled(text []byte) bool {
	return slices.ContainsFunc(veils, func(v []byte) bool { return bytes.Contains(text, v) })
}

var (
	kindLine    = regexp.MustCompile(`(?m)^kind:[ \t]*["']?([A-Za-z]+)`)
	lineNumber  = regexp.MustCompile(`line (\d+)`)
	helmSyntax  = regexp.MustCompile(`\{\{[^}]*\}\}`)
	compression = []struct{ mark, is string }{
		{"\x1f\x8b", "is compressed with gzip: unpack it first"},
		{"\x28\xb5\x2f\xfd", "is compressed with zstd: unpack it first"},
		{"\xff\xfe", "is UTF-16 text: save it as UTF-8"},
		{"\xfe\xff", "is UTF-16 text: save it as UTF-8"},
	}
)

// isText says why a text cannot be YAML or JSON.
func isText(name string, text []byte) error {
	for _, c := range compression {
		if bytes.HasPrefix(text, []byte(c.mark)) {
			return problem{file: name, text: c.is}
		}
	}
	if utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 {
		return nil
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return problem{name, 1 + bytes.Count(text[:at], []byte("\n")), fmt.Sprintf("byte %d (%#02x) is not text: expected YAML or JSON as UTF-8", at, text[at])}
		}
		at += size
	}
	return nil
}

// parse reads a document into nodes whose lines count from the beginning of the file.
func parse(name string, doc document) ([]*yamlv3.Node, error) {
	if n := bytes.Count(doc.text, []byte(",")) + bytes.Count(doc.text, []byte("\n")); n > maxValues {
		return nil, problem{name, doc.line, fmt.Sprintf("the document that begins here holds more than %d values: split it", maxValues)}
	}
	if t := bytes.TrimLeft(doc.text, " \t\r\n"); len(t) > 0 && t[0] == '{' {
		nodes, err := jsonNodes(name, doc)
		if err == nil || strings.EqualFold(filepath.Ext(name), ".json") {
			return nodes, err
		}
	}
	var root, more yamlv3.Node
	decoder := yamlv3.NewDecoder(bytes.NewReader(doc.text))
	if err := decoder.Decode(&root); err != nil && !errors.Is(err, io.EOF) {
		return nil, notYAML(name, doc, err)
	}
	// Something behind the first value would not be checked.
	if err := decoder.Decode(&more); err == nil {
		return nil, problem{name, doc.line + max(more.Line, 1) - 1, "this is not YAML: there is something behind the end of the value"}
	} else if !errors.Is(err, io.EOF) {
		return nil, notYAML(name, doc, err)
	}
	if len(root.Content) == 0 {
		return nil, nil
	}
	shift(root.Content[0], doc.line-1, map[*yamlv3.Node]bool{})
	return []*yamlv3.Node{root.Content[0]}, nil
}

// shift moves the lines of nodes.
func shift(n *yamlv3.Node, by int, seen map[*yamlv3.Node]bool) {
	if n == nil || by == 0 || seen[n] {
		return
	}
	if n.Anchor != "" {
		seen[n] = true
	}
	n.Line += by
	for _, c := range n.Content {
		shift(c, by, seen)
	}
}

func notYAML(name string, doc document, err error) error {
	text := strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " ")
	p := problem{file: name, line: doc.line}
	if m := lineNumber.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		if text = strings.TrimPrefix(text, m[0]+": "); strings.HasPrefix(text, "did not find expected ") {
			n++ // the library counts lines from 0 in the errors of its parser, from 1 in those of its scanner
		}
		p.line = doc.line + n - 1
	}
	p.text = "this is not YAML: " + text
	if helmSyntax.Match(doc.text) {
		p.text += "; it looks like a template of Helm: check what it renders, by helm template CHART | olmgate check -"
	}
	return p
}
