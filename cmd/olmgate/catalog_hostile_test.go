package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/snapshot"
)

// TestHostileTextInSnapshotsAndDifferences makes sure that no text of a catalog or snapshot reaches a terminal as a
// command or as a line of its own.
func TestHostileTextInSnapshotsAndDifferences(t *testing.T) {
	evil := "x\x1b[31m\nforged\u202e"
	quoted := `"x\u001b[31m\nforged\u202e"`
	blobs := strings.ReplaceAll(strings.Join([]string{
		`{"schema":"olm.package","name":E,"defaultChannel":E}`,
		`{"schema":"olm.channel","package":E,"name":E,"entries":[{"name":E,"replaces":E,"skips":[E],"skipRange":E}]}`,
		`{"schema":"olm.bundle","package":E,"name":E,"image":E,"properties":[{"type":"olm.package","value":{"packageName":E,"version":E}},{"type":"olm.gvk","value":{"group":E,"version":E,"kind":E}}]}`,
		`{"schema":"olm.deprecations","package":E,"entries":[{"reference":{"schema":"olm.bundle","name":E},"message":E}]}`,
	}, "\n"), "E", quoted)
	bare := put(t, "bare.jsonl", strings.ReplaceAll(`{"schema":"olm.package","name":E}`+"\n"+`{"schema":"olm.channel","package":E,"name":E,"entries":[{"name":E}]}`, "E", quoted))
	full := put(t, "full.jsonl", blobs)
	x, err := catalog.Read(strings.NewReader(blobs), catalog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x\x1b[2J.olmgate")
	shot := &snapshot.Snapshot{CreatedBy: evil, Catalogs: []snapshot.Catalog{
		{Name: "a", Labels: map[string]string{evil: evil}, Image: evil, Resolved: evil, Index: x, Outdated: true, Problem: evil}, {Name: "b", Problem: evil},
	}}
	if err := snapshot.WriteFile(file, shot); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"catalog", "inspect", file}, {"catalog", "inspect", file, "-o", "json"}, {"catalog", "inspect", file, "-o", "yaml"},
		{"catalog", "ls", "--snapshot", file, "--notes"}, {"catalog", "ls", "--snapshot", file, "--catalog", "a=" + full},
		{"catalog", "diff", bare, full}, {"catalog", "diff", full, bare, "-o", "json"}, {"catalog", "diff", full, bare, "-o", "yaml"}, {"catalog", "diff", file, full},
		{"catalog", "diff", evil, full}, {"catalog", "diff", "oci://" + evil, full}, {"catalog", "diff", file, file, "--catalog", evil},
		{"catalog", "snapshot", "--snapshot", file, "-o", filepath.Join(t.TempDir(), "absent\x1b", "x")}, {"catalog", "ls", "--registry-mirror", evil, "--catalog", "a=" + full},
		{"catalog", "ls", "--platform", evil, "--catalog", "a=" + full}, {"catalog", "ls", "--catalog", "a=oci://" + evil},
	} {
		got := olmgate(t, nil, args...)
		for where, text := range map[string]string{"output": got.out, "error": got.err} {
			if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e') }); i >= 0 && !forPrograms(args) {
				t.Errorf("olmgate %q: standard %s has %q", args, where, text[max(0, i-20):min(len(text), i+20)])
			}
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "forged") {
					t.Errorf("olmgate %q: standard %s has a forged line:\n%s", args, where, text)
				}
			}
		}
	}
}

// forPrograms reports whether the output is for programs, which quote by the rules of the format.
func forPrograms(args []string) bool { return args[len(args)-2] == "-o" }
