package snapshot

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/olmgate/olmgate/catalog"
)

// kiln is a small catalog.
const kiln = `{"schema":"olm.package","name":"kiln-operator","defaultChannel":"stable"}
{"schema":"olm.channel","package":"kiln-operator","name":"stable","entries":[{"name":"kiln-operator.v1.0.0"},{"name":"kiln-operator.v1.1.0","replaces":"kiln-operator.v1.0.0","skipRange":">=1.0.0 <1.1.0"}]}
{"schema":"olm.bundle","package":"kiln-operator","name":"kiln-operator.v1.0.0","image":"example.com/kiln:1.0.0","properties":[{"type":"olm.package","value":{"packageName":"kiln-operator","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"kiln-operator","name":"kiln-operator.v1.1.0","image":"example.com/kiln:1.1.0","properties":[{"type":"olm.package","value":{"packageName":"kiln-operator","version":"1.1.0-rc.1"}}]}
{"schema":"olm.deprecations","package":"kiln-operator","entries":[{"reference":{"schema":"olm.package"},"message":"old"}]}
`

func mustRead(t testing.TB, text string) *catalog.Index {
	t.Helper()
	x, err := catalog.Read(strings.NewReader(text), catalog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// sample has a catalog of every kind.
func sample(t testing.TB) *Snapshot {
	return &Snapshot{
		Created: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), CreatedBy: "v0.1.0",
		Catalogs: []Catalog{
			{Name: "empty", Serving: true, Index: &catalog.Index{}},
			{Name: "gone", Deleting: true, Unavailable: true, Problem: "it is not available"},
			{Name: "hub", Labels: map[string]string{"tier": "gold", "a": ""}, Priority: -5, Serving: true, Image: "example.com/hub:v1",
				Resolved: "example.com/hub@sha256:00", Index: mustRead(t, kiln), Outdated: true, Problem: "it is of yesterday"},
			{Name: "late", Priority: 1 << 30, Problem: "it has not been unpacked yet"},
		},
	}
}

func encoded(t testing.TB, s *Snapshot) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := s.Encode(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// sealed puts a right size and checksum before a body.
func sealed(body []byte) []byte { return append([]byte(prelude(body)), body...) }

// body is what is behind the first two lines.
func body(text []byte) []byte { return bytes.SplitN(text, []byte("\n"), 3)[2] }
