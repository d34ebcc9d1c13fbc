package certs

import (
	"crypto/rand"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateGolden = flag.Bool("update", false, "write the golden files")

var crand = rand.Reader

// golden compares documents, in the order of their names, with a file.
func golden(t *testing.T, name string, documents map[string]string) {
	t.Helper()
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(documents)) {
		text.WriteString("---\n# " + key + "\n" + documents[key])
	}
	path := filepath.Join("testdata", name)
	if *updateGolden {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("run with -update after looking at this: %s", diff)
	}
}
