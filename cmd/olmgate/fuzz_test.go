package main

import (
	"bytes"
	"testing"
)

// FuzzReader looks for panics, and for places that are not in the file.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		kiln, "\xef\xbb\xbf%YAML 1.2\n---\r\n" + kiln + "...\n---\n- a\n", "{\"a\":1}{\"kind\":\"List\",\"items\":[{}]}",
		"apiVersion: v1\nkind: List\nitems: [&a {apiVersion: olm.operatorframework.io/v1, kind: ClusterExtension, metadata: {name: 7}}, *a]\n",
		"{\"apiVersion\":\"olm.operatorframework.io/v1\",\"kind\":\"ClusterExtensionList\",\"items\":[{\"metadata\":{\"name\":\"x\"},\"speck\":1}]}",
		"apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nspec: {a: 1, a: 2, source: {catalog: {channels: x}}}\n",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, json bool) {
		name := "x.yaml"
		if json {
			name = "x.json"
		}
		r := &reader{}
		if err := r.stream(name, bytes.NewReader(text)); err != nil && err.Error() == "" {
			t.Error("an error without a text")
		}
		lines := 1 + bytes.Count(text, []byte("\n"))
		for _, e := range r.found {
			if e.at.Line < 1 || e.at.Line > lines || e.at.Document < 0 || e.at.File != name {
				t.Errorf("%+v in %d lines", e.at, lines)
			}
		}
	})
}
