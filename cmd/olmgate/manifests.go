package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/olmgate/olmgate/resolver"
)

// maxInput bounds one input file, in bytes. The API server takes objects of 3 MB at most.
const maxInput = 256 << 20

// extension is a ClusterExtension with where it was found.
type extension struct {
	object *ocv1.ClusterExtension
	at     *resolver.Location // nil when it came from a cluster
}

// reader finds the ClusterExtensions in files; warn takes what a person should know.
type reader struct {
	in    io.Reader
	warn  func(format string, args ...any)
	found []extension
}

// read adds the extensions of a file, of every YAML and JSON file below a directory, or of standard input for "-".
func (r *reader) read(name string) error {
	if name == "-" {
		return r.stream("<stdin>", r.in)
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return r.file(name)
	}
	files := 0
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".yaml", ".yml", ".json":
			if !entry.IsDir() {
				files++
				return r.file(path)
			}
		}
		return nil
	})
	if err == nil && files == 0 {
		return fmt.Errorf("directory %s has no .yaml, .yml or .json file", name)
	}
	return err
}

func (r *reader) file(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return r.stream(name, f)
}

func (r *reader) stream(name string, in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if len(text) > maxInput {
		return fmt.Errorf("%s is larger than %d MiB", name, maxInput>>20)
	}
	for i, doc := range documents(text) {
		if err := r.document(name, i, doc); err != nil {
			return err
		}
	}
	return nil
}

// document is one YAML document of a file.
type document struct {
	text []byte
	line int // of its first line, from 1
}

// documents splits a file at its separators. JSON is one document.
func documents(text []byte) []document {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	var list []document
	start, first, line := 0, 1, 1
	for at := 0; at < len(text); line++ {
		end := len(text)
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		row := bytes.TrimRight(text[at:end], "\r\n")
		if rest, ok := bytes.CutPrefix(row, []byte("---")); ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t') {
			list = append(list, document{text[start:at], first})
			start, first = at+3, line
		}
		at = end
	}
	list = append(list, document{text[start:], first})
	if len(bytes.TrimSpace(list[0].text)) == 0 && len(list) > 1 {
		list = list[1:] // a separator at the top begins the first document
	}
	return list
}

// document adds the extensions of one document: an object, or the items of a List.
func (r *reader) document(name string, number int, doc document) error {
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(doc.text, &root); err != nil {
		return fmt.Errorf("%s: the document that begins in line %d is not YAML: %s", name, doc.line, yamlProblem(err, doc.line))
	}
	if len(root.Content) == 0 {
		return nil
	}
	top := root.Content[0]
	if top.Kind != yamlv3.MappingNode {
		return fmt.Errorf("%s:%d: expected a Kubernetes object, found something else", name, doc.line+top.Line-1)
	}
	head := meta(top)
	if strings.HasSuffix(head.kind, "List") {
		items := child(top, "items")
		if items == nil || items.Kind != yamlv3.SequenceNode {
			return nil
		}
		for _, item := range items.Content {
			if m := meta(item); m.extension() || head.kind == "ClusterExtensionList" {
				var text []byte
				text, err := yamlv3.Marshal(item)
				if err == nil {
					err = r.add(name, number, doc.line+item.Line-1, text)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
	if !head.extension() {
		return nil
	}
	return r.add(name, number, doc.line+top.Line-1, doc.text)
}

func (r *reader) add(name string, number, line int, text []byte) error {
	object := &ocv1.ClusterExtension{}
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		object = &ocv1.ClusterExtension{}
		if yaml.Unmarshal(text, object) != nil {
			return fmt.Errorf("%s:%d: this ClusterExtension cannot be read: %s", name, line, jsonProblem(err))
		}
		r.warn("%s:%d: %s", name, line, jsonProblem(err))
	}
	r.found = append(r.found, extension{object, &resolver.Location{File: name, Line: line, Document: number}})
	return nil
}

// head is what tells the kind of an object.
type head struct{ apiVersion, kind string }

func (h head) extension() bool {
	group, _, _ := strings.Cut(h.apiVersion, "/")
	return h.kind == ocv1.ClusterExtensionKind && group == ocv1.GroupVersion.Group
}

func meta(n *yamlv3.Node) (h head) {
	if v := child(n, "apiVersion"); v != nil {
		h.apiVersion = v.Value
	}
	if v := child(n, "kind"); v != nil {
		h.kind = v.Value
	}
	return h
}

// child is the value of a key of a mapping, nil when there is none.
func child(n *yamlv3.Node, key string) *yamlv3.Node {
	if n.Kind != yamlv3.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// yamlProblem is a YAML error without the library's prefix, its line counted from the start of the file.
func yamlProblem(err error, first int) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var line int
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, rest, _ := strings.Cut(text, ": ")
		return fmt.Sprintf("line %d: %s", line+first-1, rest)
	}
	return text
}

// jsonProblem is a decoding error without the libraries' prefixes.
func jsonProblem(err error) string {
	text := err.Error()
	for _, prefix := range []string{"error unmarshaling JSON: ", "error converting YAML to JSON: ", "while decoding JSON: ", "json: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

var errNoExtensions = errors.New("no ClusterExtension in the input")
