package check

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	yamlv3 "go.yaml.in/yaml/v3"
)

// jsonReader makes nodes of JSON, which is not read as YAML: that knows neither tabs nor all of JSON's escapes.
type jsonReader struct {
	d    *jsontext.Decoder
	text []byte
	// at is how far lines are counted, line and start those of it.
	at, line, start int
}

// jsonNodes are the objects of a document.
func jsonNodes(name string, doc document) ([]*yamlv3.Node, error) {
	r := &jsonReader{d: jsontext.NewDecoder(bytes.NewReader(doc.text), jsontext.AllowDuplicateNames(true)), text: doc.text, line: doc.line}
	var nodes []*yamlv3.Node
	for {
		n, err := r.value()
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return nodes, nil
		case err != nil:
			line, _ := r.place(int(r.d.InputOffset()))
			return nil, problem{name, line, "this is not JSON: " + jsonProblem(err)}
		}
		nodes = append(nodes, n)
	}
}

func jsonProblem(err error) string {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && syntax.Err != nil {
		return syntax.Err.Error()
	}
	return err.Error()
}

// place is the line and column of an offset, which only grows.
func (r *jsonReader) place(offset int) (line, column int) {
	for r.at < offset && r.at < len(r.text) {
		if r.text[r.at] == '\n' {
			r.line++
			r.start = r.at + 1
		}
		r.at++
	}
	return r.line, 1 + utf8.RuneCount(r.text[r.start:min(offset, len(r.text))])
}

func (r *jsonReader) value() (*yamlv3.Node, error) {
	token, err := r.d.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &yamlv3.Node{Kind: yamlv3.ScalarNode}
	end := int(r.d.InputOffset())
	kind := token.Kind()
	switch kind {
	case '{', '[':
		n.Line, n.Column = r.place(end - 1)
		n.Kind, n.Tag = yamlv3.MappingNode, "!!map"
		if kind == '[' {
			n.Kind, n.Tag = yamlv3.SequenceNode, "!!seq"
		}
		for {
			if next := r.d.PeekKind(); next == '}' || next == ']' {
				_, err := r.d.ReadToken()
				return n, err
			}
			c, err := r.value()
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				return nil, err
			}
			n.Content = append(n.Content, c)
		}
	case '"':
		n.Tag, n.Value, n.Style = "!!str", token.String(), yamlv3.DoubleQuotedStyle
		n.Line, n.Column = r.place(stringStart(r.text, end))
	case '0':
		n.Value = token.String()
		n.Tag = "!!int"
		if bytes.ContainsAny([]byte(n.Value), ".eE") {
			n.Tag = "!!float"
		}
		n.Line, n.Column = r.place(end - len(n.Value))
	case 't', 'f':
		n.Tag, n.Value = "!!bool", token.String()
		n.Line, n.Column = r.place(end - len(n.Value))
	default:
		n.Tag, n.Value = "!!null", "null"
		n.Line, n.Column = r.place(end - len(n.Value))
	}
	return n, nil
}

// stringStart is where a string that ends before an offset begins.
func stringStart(text []byte, end int) int {
	for i := end - 2; i >= 0; i-- {
		if text[i] != '"' {
			continue
		}
		escapes := 0
		for j := i - 1; j >= 0 && text[j] == '\\'; j-- {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
	return 0
}
