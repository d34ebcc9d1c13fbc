package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgate/olmgate/e2e/tools"
)

// deprecations is an olm.deprecations blob.
type deprecations struct {
	Package string
	Entries []struct {
		Reference struct{ Schema, Name string }
		Message   string
	}
}

// realDeprecations reads the blobs that are in real catalogs, or skips the test where those are not.
func realDeprecations(t *testing.T) [][]byte {
	t.Helper()
	dir := os.Getenv("OLMGATE_CATALOGS")
	if dir == "" {
		root, err := tools.ModuleRoot()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(root, "..", "shared", "catalogs")
	}
	content, err := os.ReadFile(filepath.Join(dir, "deprecations-real.jsonl"))
	if err != nil {
		t.Skipf("real catalogs are not here (set OLMGATE_CATALOGS to their folder): %v", err)
	}
	return bytes.Split(bytes.TrimSpace(content), []byte("\n"))
}

// Each deprecation of each blob, in a catalog around it with invented versions, comes out as a warning.
func TestRealDeprecationsArePrintedAsWarnings(t *testing.T) {
	blobs := realDeprecations(t)
	w := gated(t)
	var printed, names []string
	parsed := make([]deprecations, len(blobs))
	for i, blob := range blobs {
		if err := json.Unmarshal(blob, &parsed[i]); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("real-%d", i)
		ref, err := w.PushCatalog(w.ctx(), name, append(parsed[i].around(), blob...))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.ApplyCatalog(w.ctx(), name, ref, 0, nil); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	w.inState("current", names...)

	entries := 0
	for i, d := range parsed {
		printed = w.try(documents(d.extensions(names[i])...)).warnings()
		for _, e := range d.Entries {
			entries++
			want := fmt.Sprintf("Warning: olmgate: ChannelDeprecated: channel %q of %s is deprecated in %s: %s", e.Reference.Name, d.Package, names[i], oneLine(e.Message))
			if e.Reference.Schema == "olm.bundle" {
				want = fmt.Sprintf("Warning: olmgate: BundleDeprecated: bundle %s is deprecated in %s: %s", e.Reference.Name, names[i], oneLine(e.Message))
			}
			if !contains(printed, want) {
				t.Errorf("kubectl does not print\n%s\nbut\n%s", want, strings.Join(printed, "\n"))
			}
		}
	}
	if len(blobs) != 10 || entries != 61 {
		t.Errorf("%d blobs with %d entries, want 10 with 61", len(blobs), entries)
	}
}

// around is a catalog in which each thing that the blob names exists: bundles in a channel of their own, and beside them
// one that is not deprecated, which the deprecated channels hold.
func (d deprecations) around() []byte {
	current := bundleName(d.Package, "9.0.0")
	kept := []any{map[string]any{"name": current}}
	blobs := []any{
		map[string]any{"schema": "olm.package", "name": d.Package, "defaultChannel": "kept"},
		bundle(d.Package, current, "9.0.0"),
	}
	for i, e := range d.Entries {
		if e.Reference.Schema == "olm.bundle" {
			kept = append(kept, map[string]any{"name": e.Reference.Name})
			blobs = append(blobs, bundle(d.Package, e.Reference.Name, version(i)))
		} else {
			blobs = append(blobs, channel(d.Package, e.Reference.Name, kept[0]))
		}
	}
	return fbc(append(blobs, channel(d.Package, "kept", kept...))...)
}

// extensions ask for each of the deprecated things in turn.
func (d deprecations) extensions(catalog string) []string {
	var list []string
	for i, e := range d.Entries {
		ask := fmt.Sprintf("channels: [%q]", e.Reference.Name)
		if e.Reference.Schema == "olm.bundle" {
			ask = "version: " + version(i)
		}
		list = append(list, extension(fmt.Sprintf("%s-%d", catalog, i), "packageName: "+d.Package, ask,
			"selector: {matchLabels: {olm.operatorframework.io/metadata.name: "+catalog+"}}"))
	}
	return list
}

func version(i int) string { return fmt.Sprintf("1.%d.0", i) }

// oneLine is a message without the line breaks that it ends with.
func oneLine(message string) string { return strings.TrimSpace(message) }

// contains reports whether a warning was printed, in full or cut to olmgate's length with an ellipsis.
func contains(printed []string, want string) bool {
	for _, got := range printed {
		if got == want {
			return true
		}
		if begin, cut := strings.CutSuffix(got, "…"); cut && strings.HasPrefix(want, begin) {
			return true
		}
	}
	return false
}
