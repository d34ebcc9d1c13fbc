package check

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/olmgate/olmgate/check/report"
)

// Kinds that are read.
const (
	kindExtension = "ClusterExtension"
	kindCatalog   = "ClusterCatalog"
)

// object is a ClusterExtension or ClusterCatalog, or what once was one, with where it stands.
type object struct {
	file     string
	document int
	marks    mark
	// content is the object as JSON has it, until it has been inspected.
	content    map[string]any
	apiVersion string
	kind       string
	name       string
	repeated   []repeatedKey
	// findings about the object itself, and the object as the API has it; nil when it cannot be read or is another.
	findings []report.Finding
	ext      *ocv1.ClusterExtension
	cc       *ocv1.ClusterCatalog
	// digest tells whether a manifest differs from another.
	digest [sha256.Size]byte
	// source is the object in the file that a rendered one comes from, nil when that is unknown.
	source *object
	// order of the input that it was found in.
	order int
}

// where is the place of a field, or of its nearest parent. What kustomize rendered is shown where it was written.
func (o *object) where(path string) report.Location {
	if o.source != nil {
		return o.source.where(path)
	}
	m, _ := o.marks.find(path)
	return m.in(o.file, o.document)
}

// head tells the kind of an object.
type head struct{ apiVersion, kind string }

func headOf(n *yamlv3.Node) (h head) {
	text := func(key string) string {
		v := inherited(n, key, maxMerges)
		if v == nil || v.Kind != yamlv3.ScalarNode {
			return ""
		}
		if s, ok := scalar(v).(string); ok {
			return s
		}
		return v.Value
	}
	return head{text("apiVersion"), text("kind")}
}

func (h head) group() string {
	group, _, _ := strings.Cut(h.apiVersion, "/")
	return group
}

// read reports whether objects of this kind are looked at: those of OLM v1, in all versions it ever had, and those whose
// apiVersion is forgotten or misspelt.
func (h head) read() bool {
	switch h.group() {
	case oldCatalogGroup:
		return h.kind == "Catalog" || h.kind == kindCatalog
	case oldOperatorGroup:
		return h.kind == "Operator" && h.apiVersion == oldOperatorGroup+"/v1alpha1"
	}
	if h.kind != kindExtension && h.kind != kindCatalog {
		return false
	}
	return h.apiVersion == "" || nearest(h.group(), []string{ocv1.GroupVersion.Group}) != ""
}

func (h head) list() bool { return strings.HasSuffix(h.kind, "List") && h.apiVersion != "" }

// objectsIn are the objects of a node: itself, or the items of a List. passed is told of the kind of each other object.
//
// budget is how many values the objects may have together.
func objectsIn(file string, document int, n *yamlv3.Node, budget *int, passed func(kind string)) ([]*object, error) {
	return objectsBelow(file, document, n, head{}, maxLists, budget, passed)
}

// maxLists bounds how deep Lists lie in Lists.
const maxLists = 16

// objectsBelow takes what an object does not say of its kind from the List that it is in.
func objectsBelow(file string, document int, n *yamlv3.Node, implied head, lists int, budget *int, passed func(kind string)) ([]*object, error) {
	if n = followed(n); n == nil || n.Kind != yamlv3.MappingNode {
		return nil, nil
	}
	h := headOf(n)
	if implied.kind != "" {
		h.kind, h.apiVersion = cmp.Or(h.kind, implied.kind), cmp.Or(h.apiVersion, implied.apiVersion)
	}
	if h.list() {
		if lists == 0 {
			return nil, problem{file, n.Line, "Lists lie too deep in Lists"}
		}
		items := member(n, "items")
		if items == nil || items.Kind != yamlv3.SequenceNode {
			return nil, nil
		}
		implied := head{h.apiVersion, strings.TrimSuffix(h.kind, "List")}
		var list []*object
		for _, item := range items.Content {
			found, err := objectsBelow(file, document, item, implied, lists-1, budget, passed)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		}
		return list, nil
	}
	if !h.read() {
		passed(h.kind)
		return nil, nil
	}
	o, err := newObject(file, document, n, h, budget)
	if err != nil {
		return nil, err
	}
	return []*object{o}, nil
}

func newObject(file string, document int, n *yamlv3.Node, h head, budget *int) (*object, error) {
	c := converter{left: *budget}
	v, err := c.value(n, "")
	*budget = c.left
	if err != nil {
		return nil, problem{file, n.Line, fmt.Sprintf("this %s cannot be read: %v", h.kind, err)}
	}
	o := &object{file: file, document: document, marks: newMark("", n, n), apiVersion: h.apiVersion, kind: h.kind, repeated: c.repeated}
	o.content, _ = v.(map[string]any)
	o.content["apiVersion"], o.content["kind"] = h.apiVersion, h.kind
	if meta, ok := o.content["metadata"].(map[string]any); ok {
		o.name, _ = meta["name"].(string)
	}
	return o, nil
}

// inspect validates the object and reads it as the API has it. What it was made of is dropped then; digest is whether it
// is to be compared with another.
func (o *object) inspect(ctx context.Context, digest bool) {
	if digest {
		if raw, err := json.Marshal(o.content); err == nil {
			o.digest = sha256.Sum256(raw)
		}
	}
	o.findings = o.validate(ctx)
	if o.apiVersion == ocv1.GroupVersion.String() {
		switch o.kind {
		case kindExtension:
			var ext ocv1.ClusterExtension
			if runtime.DefaultUnstructuredConverter.FromUnstructured(o.content, &ext) == nil {
				o.ext = &ext
			}
		case kindCatalog:
			var cc ocv1.ClusterCatalog
			if runtime.DefaultUnstructuredConverter.FromUnstructured(o.content, &cc) == nil && cc.Name != "" {
				o.cc = &cc
			}
		}
	}
	o.content, o.repeated = nil, nil
}
