package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASnapshotOfAClusterSaysWhatTheClusterSays(t *testing.T) {
	server := "--server=" + apiServer(t)
	file := filepath.Join(t.TempDir(), "catalogs.olmgate")
	got := olmgate(t, nil, "catalog", "snapshot", server, "-o", file)
	if got.code != exitUndecided || got.out != "" || !strings.Contains(got.err, "catalog late is in the snapshot without content: it has not been unpacked yet") {
		t.Errorf("got %+v", got)
	}
	extension := put(t, "x.yaml", kiln+"---\n"+strings.ReplaceAll(kiln, "kiln", "other"))
	for _, args := range [][]string{
		{"catalog", "ls", "--notes"}, {"catalog", "show", "kiln-operator"}, {"catalog", "show", "other-operator"},
		{"resolve", "-f", extension, "--explain"}, {"resolve", "-f", extension, "-o", "json"}, {"resolve", "-f", extension, "-o", "yaml", "--rule", "Bundle"},
	} {
		live := olmgate(t, nil, append(args, server)...)
		if again := olmgate(t, nil, append(args, "--snapshot", file, "--offline")...); again != live {
			t.Errorf("olmgate %q: the snapshot says\n%+v\nthe cluster\n%+v", args, again, live)
		}
	}
}

func TestASnapshotIsNotForTerminals(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there is no terminal to be had: %v", err)
	}
	defer terminal.Close()
	var errs strings.Builder
	code := run(t.Context(), []string{"catalog", "snapshot", "--catalog", "hub=" + put(t, "hub.jsonl", hub), "-o", "-"}, streams{out: terminal, err: &errs})
	if code != exitUsage || !strings.Contains(errs.String(), "not for terminals: name a file by -o") {
		t.Errorf("exit status %d: %s", code, errs.String())
	}
}
