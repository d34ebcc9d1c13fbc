package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	yamlv3 "go.yaml.in/yaml/v3"
	k8sjson "sigs.k8s.io/json"

	"github.com/olmgate/olmgate/resolver"
)

// place is a document of a file.
type place struct {
	file   string
	number int
}

func (p place) line(n int) string { return fmt.Sprintf("%s:%d", p.file, n) }

// tree is an object as JSON, with what is known of where its parts stand.
type tree struct {
	text []byte
	line int
	// node is the same as YAML, nil when it came as JSON; its lines count from first.
	node  *yamlv3.Node
	first int
	// implied is the kind of an object that has none of its own.
	implied head
}

// head is what tells the kind of an object.
type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

func (h head) extension() bool {
	group, _, _ := strings.Cut(h.APIVersion, "/")
	return h.Kind == ocv1.ClusterExtensionKind && group == ocv1.GroupVersion.Group
}

func (h head) list() bool { return strings.HasSuffix(h.Kind, "List") && h.APIVersion != "" }

func headOf(n *yamlv3.Node) (h head) {
	if v := child(n, "apiVersion"); v != nil {
		h.APIVersion = v.Value
	}
	if v := child(n, "kind"); v != nil {
		h.Kind = v.Value
	}
	return h
}

// object adds an extension, or those among the items of a List. Other objects are passed over.
func (r *reader) object(at place, t tree) error {
	var h head
	switch {
	case t.node == nil:
		_ = json.Unmarshal(t.text, &h) // an object with another kind of kind is passed over
	case t.node.Kind != yamlv3.MappingNode:
		return nil
	default:
		h = headOf(t.node)
	}
	if h.Kind == "" {
		h = t.implied
	}
	switch {
	case h.extension():
		return r.add(at, h, t)
	case !h.list():
		if h.Kind != "" {
			r.pass(h.Kind)
		}
		return nil
	}
	items, err := t.items()
	if err != nil {
		return fmt.Errorf("%s: this %s cannot be read: %w", at.line(t.line), h.Kind, err)
	}
	if len(items) == 0 {
		r.pass("empty " + h.Kind)
	}
	for _, item := range items {
		if h.Kind == ocv1.ClusterExtensionKind+"List" {
			item.implied = head{h.APIVersion, ocv1.ClusterExtensionKind}
		}
		if err := r.object(at, item); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) pass(kind string) {
	if r.passed == nil {
		r.passed = map[string]int{}
	}
	r.passed[kind]++
}

// items are the members of a List.
func (t tree) items() ([]tree, error) {
	var nodes []*yamlv3.Node
	if n := child(t.node, "items"); n != nil && n.Kind == yamlv3.SequenceNode {
		nodes = n.Content
	}
	var items []tree
	d := json.NewDecoder(bytes.NewReader(t.text))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		if key != "items" || raw[0] != '[' {
			continue
		}
		start := d.InputOffset() - int64(len(raw))
		inner := json.NewDecoder(bytes.NewReader(raw))
		if _, err := inner.Token(); err != nil {
			return nil, err
		}
		for inner.More() {
			var item json.RawMessage
			if err := inner.Decode(&item); err != nil {
				return nil, err
			}
			one := tree{text: item, line: t.line + bytes.Count(t.text[:start+inner.InputOffset()-int64(len(item))], []byte("\n"))}
			if n := len(items); n < len(nodes) {
				one.node, one.first, one.line = resolveAlias(nodes[n]), t.first, t.first+nodes[n].Line-1
			}
			items = append(items, one)
		}
	}
	return items, nil
}

func (r *reader) add(at place, h head, t tree) error {
	if h.APIVersion != ocv1.GroupVersion.String() {
		return fmt.Errorf("%s: a ClusterExtension of apiVersion %s: olmgate reads %s", at.line(t.line), h.APIVersion, ocv1.GroupVersion)
	}
	object := &ocv1.ClusterExtension{}
	strict, err := k8sjson.UnmarshalStrict(t.text, object)
	if err != nil {
		line, why := t.wrong(err)
		return fmt.Errorf("%s: this ClusterExtension cannot be read: %s", at.line(line), why)
	}
	for _, err := range strict {
		text := strings.TrimPrefix(err.Error(), "json: ")
		line := t.line
		if _, path, found := strings.Cut(text, `"`); found {
			line = t.lineOf(strings.TrimSuffix(path, `"`))
		}
		r.warn(at.line(line), text+", which is ignored")
	}
	if object.Name == "" {
		r.warn(at.line(t.line), "this ClusterExtension has no metadata.name")
	}
	r.found = append(r.found, extension{object, &resolver.Location{File: at.file, Line: t.line, Document: at.number}})
	return nil
}

// wrong says where and why an object does not fit its type.
func (t tree) wrong(err error) (int, string) {
	var typ *json.UnmarshalTypeError
	if !errors.As(err, &typ) {
		return t.line, strings.TrimPrefix(err.Error(), "json: ")
	}
	line := t.lineOf(typ.Field)
	if t.node == nil {
		line = t.line + bytes.Count(t.text[:min(typ.Offset, int64(len(t.text)))], []byte("\n"))
	}
	hint := ""
	if scalar := !strings.HasPrefix(typ.Value, "array") && typ.Value != "object"; scalar && typ.Type.Kind() == reflect.String {
		hint = ": put it in quotes"
	}
	return line, fmt.Sprintf("%s: expected %s, found %s%s", typ.Field, expected(typ.Type), found(typ.Value), hint)
}

func expected(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	}
	return t.String()
}

func found(value string) string {
	switch value {
	case "array":
		return "a list"
	case "object":
		return "a mapping"
	case "bool":
		return "true or false"
	}
	return "a " + value
}

// lineOf is the line of a field, or of the nearest parent that is there.
func (t tree) lineOf(path string) int {
	if t.node == nil {
		return t.line
	}
	line, n := t.line, t.node
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		key, value := member(n, step)
		if key == nil {
			return line
		}
		n, line = value, t.first+key.Line-1
	}
	return line
}

// child is the value of a key of a mapping, nil when there is none.
func child(n *yamlv3.Node, key string) *yamlv3.Node {
	_, value := member(n, key)
	return value
}

// member is what has a key in a mapping, or a number in a sequence: where its line begins, and its value.
func member(n *yamlv3.Node, step string) (key, value *yamlv3.Node) {
	switch {
	case n == nil:
	case n.Kind == yamlv3.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i], resolveAlias(n.Content[i+1])
			}
		}
	case n.Kind == yamlv3.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], resolveAlias(n.Content[i])
		}
	}
	return nil, nil
}

func resolveAlias(n *yamlv3.Node) *yamlv3.Node {
	if n.Kind == yamlv3.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}
