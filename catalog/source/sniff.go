package source

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.yaml.in/yaml/v3"
)

// class is what a file holds, told by its first document.
type class int

const (
	// classOther is neither: a kustomization, values, comments only.
	classOther class = iota
	// classEmpty has no byte, as when whatever should write it has failed.
	classEmpty
	// classManifest has apiVersion and kind.
	classManifest
	// classFBC has a schema.
	classFBC
	// classBroken cannot be told, since it cannot be read.
	classBroken
)

// maxSniff is how much of a file is read for its first document: the largest FBC object that is taken, and a manifest
// is smaller by far.
const maxSniff = 16 << 20

// sniffed is the class of a file, and the reason when it is classBroken.
type sniffed struct {
	class class
	err   error
}

func sniff(path string) sniffed {
	text, done, err := openText(path)
	if err != nil {
		return sniffed{classBroken, err}
	}
	defer done()
	in := bufio.NewReader(io.LimitReader(text, maxSniff))
	if _, err := in.Peek(1); errors.Is(err, io.EOF) {
		return sniffed{class: classEmpty}
	}
	var head header
	if isJSON(in) {
		err = json.NewDecoder(in).Decode(&head)
		if err != nil && strings.Contains(path, ".y") {
			// A YAML document may begin with a brace and still not be JSON.
			if again, done2, err2 := openText(path); err2 == nil {
				defer done2()
				head, err = firstYAML(io.LimitReader(again, maxSniff))
			}
		}
	} else {
		head, err = firstYAML(in)
	}
	switch {
	case errors.Is(err, io.EOF):
		return sniffed{class: classOther}
	case err != nil:
		return sniffed{classBroken, fmt.Errorf("%s: %w", path, err)}
	}
	return sniffed{class: head.class()}
}

// header is what tells documents apart.
type header struct {
	APIVersion word `json:"apiVersion" yaml:"apiVersion"`
	Kind       word `json:"kind"       yaml:"kind"`
	Schema     word `json:"schema"     yaml:"schema"`
}

func (h header) class() class {
	switch {
	case h.APIVersion != "" && h.Kind != "":
		return classManifest
	case h.Schema != "":
		return classFBC
	}
	return classOther
}

// word is a string; a value of any other type counts as "".
type word string

func (t *word) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = word(s)
	}
	return nil
}

func (t *word) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		*t = word(n.Value)
	}
	return nil
}

// firstYAML is the header of the first document that is not empty; io.EOF when there is none.
func firstYAML(r io.Reader) (header, error) {
	d := yaml.NewDecoder(r)
	for {
		var doc yaml.Node
		if err := d.Decode(&doc); err != nil {
			return header{}, err
		}
		if isNull(&doc) {
			continue
		}
		return headerOf(&doc), nil
	}
}

// headerOf reads the header of a document; one that is not a mapping has none.
func headerOf(doc *yaml.Node) header {
	var h header
	if m := content(doc); m.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(m.Content); i += 2 {
			switch m.Content[i].Value {
			case "apiVersion":
				_ = h.APIVersion.UnmarshalYAML(m.Content[i+1])
			case "kind":
				_ = h.Kind.UnmarshalYAML(m.Content[i+1])
			case "schema":
				_ = h.Schema.UnmarshalYAML(m.Content[i+1])
			}
		}
	}
	return h
}

func isNull(doc *yaml.Node) bool {
	c := content(doc)
	return c.Kind == 0 || c.Kind == yaml.ScalarNode && c.ShortTag() == "!!null"
}

func content(doc *yaml.Node) *yaml.Node {
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		return doc.Content[0]
	}
	return doc
}

// isJSON looks at the first byte that is not white space.
func isJSON(in *bufio.Reader) bool {
	for n := 1; n <= in.Size(); n++ {
		b, err := in.Peek(n)
		if err != nil {
			return false
		}
		switch c := b[n-1]; {
		case c == '{':
			return true
		case !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)):
			return false
		}
	}
	return false
}

// openText opens a file, decompressed as its name says.
func openText(path string) (io.Reader, func(), error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	closeFile := func() { _ = f.Close() }
	switch {
	case strings.HasSuffix(path, ".gz"):
		z, err := gzip.NewReader(f)
		if err != nil {
			closeFile()
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		return z, closeFile, nil
	case strings.HasSuffix(path, ".zst"):
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			closeFile()
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		return z, func() { z.Close(); closeFile() }, nil
	}
	return f, closeFile, nil
}
