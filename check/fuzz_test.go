package check

import (
	"bytes"
	"strings"
	"testing"

	"github.com/olmgate/olmgate/check/report"
)

const fuzzed = `apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: kiln, labels: {a: 1}}
spec: &spec
  namespace: kilns
  source: {sourceType: Catalog, catalog: {packageName: kiln-operator, version: 1.10, channels: [a, B], selector: {x: y}}}
`

// FuzzReadText looks for panics, and for places that are not in the file.
func FuzzReadText(f *testing.F) {
	for _, seed := range []string{
		fuzzed, "\xef\xbb\xbf%YAML 1.2\n---\r\n" + fuzzed + "...\n---\n- a\n", "{\"kind\":\"List\",\"items\":[{\"kind\":\"ClusterExtension\"}]}",
		"apiVersion: v1\nkind: List\nitems: [&a {apiVersion: olm.operatorframework.io/v1, kind: ClusterExtension, metadata: {name: 7}}, *a]\n",
		"{\"apiVersion\":\"olm.operatorframework.io/v1\",\"kind\":\"ClusterExtensionList\",\"items\":[{\"metadata\":{\"name\":\"x\"},\"spec\":1}]}",
		"apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nspec: {a: 1, a: 2, <<: {source: {catalog: {channels: x}}}}\n",
		"apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\nmetadata: x\nspec: {priority: 1e3, source: {type: Image, image: x}}\n",
		"apiVersion: catalogd.operatorframework.io/v1alpha1\nkind: Catalog\nspec: {source: {type: image, image: {ref: x}}}\n",
		"apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nspec: &a {b: *a}\n",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, json bool) {
		name := "x.yaml"
		if json {
			name = "x.json"
		}
		p := readText(name, text, 0)
		if p.problem != nil && p.problem.Error() == "" {
			t.Error("an error without a text")
		}
		lines := 1 + bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + strings.Count(string(text), "\u0085") + strings.Count(string(text), "\u2028") + strings.Count(string(text), "\u2029")
		inside := func(l report.Location) {
			if l.File != name || l.Line < 1 || l.Line > lines || l.Column < 1 || l.Document < 0 {
				t.Errorf("%+v in %d lines", l, lines)
			}
		}
		p.inspect(t.Context(), true)
		for _, o := range p.objects {
			inside(o.where(""))
			inside(o.where("spec.source.catalog.channels[0]"))
			for _, found := range o.findings {
				inside(found.Location)
				if found.Message == "" || found.Rule == "" {
					t.Errorf("%+v", found)
				}
			}
		}
	})
}

// FuzzIgnore looks for panics and expressions that do not compile.
func FuzzIgnore(f *testing.F) {
	for _, seed := range []string{"*.yaml", "[!a-z]/**/b\\ ", "!/dir/", "[[:alpha:]", "\\", "a**b"} {
		f.Add(seed, "dir/a.yaml")
	}
	f.Fuzz(func(_ *testing.T, pattern, name string) {
		readIgnore(strings.NewReader(pattern), "").ignores(name, false)
		parseExcludes([]string{pattern}).match(name, false)
	})
}
