package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// maxValues bounds about how many values a YAML document has: thousands of objects.
const maxValues = 2_000_000

// document is one YAML document of a file, or one JSON value.
type document struct {
	text []byte
	line int // of its first byte, from 1
}

// split cuts a file at the separators of YAML documents. No JSON value is cut by that.
func split(text []byte) []document {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	var list []document
	start, first, line := 0, 1, 1
	for at := 0; at < len(text); line++ {
		end := len(text)
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		if separates(text[at:end]) {
			list = append(list, document{text[start:at], first})
			start, first = at+3, line
		}
		at = end
	}
	list = append(list, document{text[start:], first})
	if len(list) > 1 && prologue(list[0].text) {
		list = list[1:] // the separator at the top begins the first document
	}
	return list
}

// separates reports whether a line begins or ends a document.
func separates(line []byte) bool {
	line = bytes.TrimRight(line, "\r\n")
	for _, mark := range []string{"---", "..."} {
		if rest, ok := bytes.CutPrefix(line, []byte(mark)); ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t') {
			return true
		}
	}
	return false
}

// prologue reports whether there are comments and directives only.
func prologue(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}

// text adds the extensions of a file.
func (r *reader) text(name string, text []byte) error {
	number := 0
	for _, doc := range split(text) {
		values, err := jsonValues(doc)
		if err != nil && strings.EqualFold(filepath.Ext(name), ".json") {
			return fmt.Errorf("%s:%w", name, err)
		}
		if err == nil && len(values) > 0 {
			for _, v := range values {
				if err := r.object(place{name, number}, tree{text: v.text, line: v.line}); err != nil {
					return err
				}
				number++
			}
			continue
		}
		if err := r.yaml(place{name, number}, doc); err != nil {
			return err
		}
		number++
	}
	return nil
}

// jsonValues are the JSON objects of a document, none when it is YAML. JSON is not read as YAML, which knows neither
// tabs nor all of JSON's escapes. The error begins with the line.
func jsonValues(doc document) ([]document, error) {
	if t := bytes.TrimLeft(doc.text, " \t\r\n"); len(t) == 0 || t[0] != '{' {
		return nil, nil
	}
	lineAt := func(offset int64) int { return doc.line + bytes.Count(doc.text[:offset], []byte("\n")) }
	var values []document
	for d := json.NewDecoder(bytes.NewReader(doc.text)); ; {
		var raw json.RawMessage
		err := d.Decode(&raw)
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF):
			return values, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("%d: this is not JSON: it ends in the middle", lineAt(int64(len(doc.text))))
		case errors.As(err, &syntax):
			return nil, fmt.Errorf("%d: this is not JSON: %w", lineAt(min(syntax.Offset, int64(len(doc.text)))), err)
		case err != nil:
			return nil, fmt.Errorf("%d: this is not JSON: %w", doc.line, err)
		}
		values = append(values, document{raw, lineAt(d.InputOffset() - int64(len(raw)))})
	}
}

// yaml adds the extensions of a YAML document.
func (r *reader) yaml(at place, doc document) error {
	// Each value takes a few hundred bytes once it is parsed, however short it is.
	if n := bytes.Count(doc.text, []byte(",")) + bytes.Count(doc.text, []byte("\n")); n > maxValues {
		return fmt.Errorf("%s: the YAML document that begins here holds more than %d values: split it", at.line(doc.line), maxValues)
	}
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(doc.text, &root); err != nil {
		return notYAML(at.file, doc, err)
	}
	if len(root.Content) == 0 {
		return nil
	}
	t := tree{line: doc.line + root.Content[0].Line - 1, node: root.Content[0], first: doc.line}
	head := headOf(t.node)
	if !head.extension() && !head.list() {
		return r.object(at, t)
	}
	var err error
	if t.text, err = yaml.YAMLToJSONStrict(doc.text); err != nil {
		// Repeated keys are the one fault that can be passed over: the last one counts, as for kubectl.
		strict := err
		if t.text, err = yaml.YAMLToJSON(doc.text); err != nil {
			return notYAML(at.file, doc, err)
		}
		r.repeated(at, t, problem(strict, doc.line))
	}
	return r.object(at, t)
}

// repeated warns of each key that an error of the YAML library says is there twice.
func (r *reader) repeated(at place, t tree, text string) {
	all := repeatedKey.FindAllStringSubmatch(text, -1)
	for _, m := range all {
		line, _ := strconv.Atoi(m[1])
		r.warn(at.line(line), fmt.Sprintf("key %s is there twice, and the last one counts", m[2]))
	}
	if len(all) == 0 {
		r.warn(at.line(t.line), text)
	}
}

func notYAML(name string, doc document, err error) error {
	line := doc.line
	text := problem(err, doc.line)
	if m := lineNumber.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = strings.TrimPrefix(text, m[0]+": ")
		if strings.HasPrefix(text, "did not find expected ") {
			line++ // the library counts lines from 0 in the errors of its parser, from 1 in those of its scanner
		}
	}
	if doc.line > 1 {
		text += fmt.Sprintf(" (in the document that begins in line %d)", doc.line)
	}
	return fmt.Errorf("%s:%d: this is not YAML: %s", name, line, text)
}

var (
	lineNumber  = regexp.MustCompile(`line (\d+)`)
	repeatedKey = regexp.MustCompile(`line (\d+): key (".*?") already set in map`)
)

// problem is a YAML error in one line without the libraries' prefixes, its lines counted from the start of the file.
func problem(err error, first int) string {
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:"} {
		text = strings.TrimPrefix(strings.TrimSpace(text), prefix)
	}
	text = strings.Join(strings.Fields(text), " ")
	return lineNumber.ReplaceAllStringFunc(text, func(m string) string {
		n, err := strconv.Atoi(strings.TrimPrefix(m, "line "))
		if err != nil {
			return m
		}
		return "line " + strconv.Itoa(n+first-1)
	})
}
