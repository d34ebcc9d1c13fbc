package catalog

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// kilnBlobs are a small catalog that has something of everything the index keeps.
var kilnBlobs = []string{
	`{"schema":"olm.package","name":"kiln-operator","defaultChannel":"stable","description":"Fires pots.","icon":{"base64data":"aGk=","mediatype":"image/png"}}`,
	`{"schema":"olm.channel","package":"kiln-operator","name":"stable","entries":[{"name":"kiln-operator.v1.0.0"},{"name":"kiln-operator.v1.1.0","replaces":"kiln-operator.v1.0.0","skips":["kiln-operator.v1.0.1"],"skipRange":">=1.0.0 <1.1.0"}]}`,
	`{"schema":"olm.channel","package":"kiln-operator","name":"fast","entries":[{"name":"kiln-operator.v1.1.0","skipRange":"^1.0"},{"name":"kiln-operator.v9.9.9"}]}`,
	`{"schema":"olm.bundle","package":"kiln-operator","name":"kiln-operator.v1.0.0","image":"example.com/kiln:1.0.0","properties":[{"type":"olm.package","value":{"packageName":"kiln-operator","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"pottery.example.com","kind":"Kiln","version":"v1"}}],"relatedImages":[{"name":"","image":"example.com/kiln:1.0.0"}]}`,
	`{"schema":"olm.bundle","package":"kiln-operator","name":"kiln-operator.v1.1.0","image":"example.com/kiln:1.1.0","properties":[{"type":"olm.package","value":{"packageName":"kiln-operator","version":"1.1.0+3"}},{"type":"olm.gvk.required","value":{"version":"v1","kind":"Clay","group":"pottery.example.com"}},{"type":"olm.csv.metadata","value":{"displayName":"Kiln","installModes":[{"type":"AllNamespaces","supported":true},{"type":"OwnNamespace","supported":false}]}}]}`,
	`{"schema":"olm.deprecations","package":"kiln-operator","entries":[{"reference":{"schema":"olm.channel","name":"fast"},"message":"use stable"},{"reference":{"schema":"olm.bundle","name":"kiln-operator.v1.0.0"},"message":""},{"reference":{"schema":"olm.package"},"message":"old"}]}`,
	`{"schema":"olm.template.unknown","name":"x","anything":[1,2,{"deep":null}]}`,
}

// kilnYAML says the same as kilnBlobs.
const kilnYAML = `schema: olm.package
name: kiln-operator
defaultChannel: stable
description: Fires pots.
icon: {base64data: aGk=, mediatype: image/png}
---
schema: olm.channel
package: kiln-operator
name: stable
entries:
- name: kiln-operator.v1.0.0
- name: kiln-operator.v1.1.0
  replaces: kiln-operator.v1.0.0
  skips: [kiln-operator.v1.0.1]
  skipRange: ">=1.0.0 <1.1.0"
--- # a comment
schema: olm.channel
package: kiln-operator
name: fast
entries:
- {name: kiln-operator.v1.1.0, skipRange: ^1.0}
- name: kiln-operator.v9.9.9
---
schema: olm.bundle
package: kiln-operator
name: kiln-operator.v1.0.0
image: example.com/kiln:1.0.0
properties:
- type: olm.package
  value: {packageName: kiln-operator, version: 1.0.0}
- type: olm.gvk
  value: {group: pottery.example.com, kind: Kiln, version: v1}
relatedImages:
- {name: "", image: "example.com/kiln:1.0.0"}
...
---
schema: olm.bundle
package: kiln-operator
name: kiln-operator.v1.1.0
image: example.com/kiln:1.1.0
properties:
- type: olm.package
  value: {packageName: kiln-operator, version: 1.1.0+3}
- type: olm.gvk.required
  value: {group: pottery.example.com, kind: Clay, version: v1}
- type: olm.csv.metadata
  value:
    displayName: Kiln
    installModes:
    - {type: AllNamespaces, supported: true}
    - {type: OwnNamespace, supported: false}
---
schema: olm.deprecations
package: kiln-operator
entries:
- {reference: {schema: olm.channel, name: fast}, message: use stable}
- {reference: {schema: olm.bundle, name: kiln-operator.v1.0.0}, message: ""}
- {reference: {schema: olm.package}, message: old}
---
schema: olm.template.unknown
name: x
anything: [1, 2, {deep: null}]
`

// describe writes an index as sorted lines, the size and notes left out.
func describe(x *Index) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, p := range x.Packages() {
		add("package %s declared=%v default=%s contained=%v", p.Name, p.Declared, p.DefaultChannel, p.Contained())
		for _, c := range p.Channels {
			add("channel %s", c.Name)
			for _, e := range c.Entries {
				at := "absent"
				if e.Bundle >= 0 {
					at = p.Bundles[e.Bundle].Name
				}
				add("entry %s %s replaces=%s skips=%v range=%s bad=%v bundle=%s", c.Name, e.Name, e.Replaces, e.Skips, e.SkipRange, e.BadSkipRange, at)
			}
		}
		for _, b := range p.Bundles {
			add("bundle %s %s %s release=%s problem=%s modes=%d %v %v", b.Name, b.Image, b.Version, b.Release, b.Problem, b.InstallModes, b.GVKs, b.Dependencies)
		}
		for _, d := range p.Deprecations {
			add("deprecation %s %s %q", d.Schema, d.Name, d.Message)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

const kilnDescribed = `bundle kiln-operator.v1.0.0 example.com/kiln:1.0.0 1.0.0 release= problem= modes=0 [{pottery.example.com v1 Kiln}] []
bundle kiln-operator.v1.1.0 example.com/kiln:1.1.0 1.1.0 release=3 problem= modes=24 [] [{olm.gvk.required {"group":"pottery.example.com","kind":"Clay","version":"v1"}}]
channel fast
channel stable
deprecation olm.bundle kiln-operator.v1.0.0 ""
deprecation olm.channel fast "use stable"
deprecation olm.package  "old"
entry fast kiln-operator.v1.1.0 replaces= skips=[] range=^1.0 bad=true bundle=kiln-operator.v1.1.0
entry fast kiln-operator.v9.9.9 replaces= skips=[] range= bad=false bundle=absent
entry stable kiln-operator.v1.0.0 replaces= skips=[] range= bad=false bundle=kiln-operator.v1.0.0
entry stable kiln-operator.v1.1.0 replaces=kiln-operator.v1.0.0 skips=[kiln-operator.v1.0.1] range=>=1.0.0 <1.1.0 bad=false bundle=kiln-operator.v1.1.0
package kiln-operator declared=true default=stable contained=true`

func lines(blobs []string) []byte { return []byte(strings.Join(blobs, "\n") + "\n") }

func mustRead(t testing.TB, text []byte) *Index {
	t.Helper()
	x, err := Read(bytes.NewReader(text), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func encoded(t testing.TB, x *Index) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := x.Encode(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var zstdWriter = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(64<<10))
})

func zstded(t testing.TB, text []byte) []byte {
	t.Helper()
	z, err := zstdWriter()
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(text, nil)
}

// wantError checks that err is an *Error at the offset whose text has the words.
func wantError(t *testing.T, err error, file string, offset int64, words ...string) {
	t.Helper()
	var at *Error
	if !errors.As(err, &at) {
		t.Fatalf("error %v (%T), want an *Error", err, err)
	}
	if at.File != file || at.Offset != offset {
		t.Errorf("file %q, byte %d, want file %q, byte %d: %v", at.File, at.Offset, file, offset, err)
	}
	for _, w := range append(words, fmt.Sprintf("byte %d", offset), file) {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is missing in: %v", w, err)
		}
	}
}

// repeat gives text over and over, n bytes in all.
type repeat struct {
	text string
	n    int64
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.n <= 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > r.n {
		p = p[:r.n]
	}
	for i := range p {
		p[i] = r.text[r.at]
		if r.at++; r.at == len(r.text) {
			r.at = 0
		}
	}
	r.n -= int64(len(p))
	return len(p), nil
}
