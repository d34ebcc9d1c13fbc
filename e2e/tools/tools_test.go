package tools

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFindNamesWhatIsMissing(t *testing.T) {
	t.Setenv(DirEnv, t.TempDir())
	_, err := Find("kubectl")
	if !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "kubectl") {
		t.Errorf("got %v, want ErrAbsent for kubectl", err)
	}
}

func TestNodeProgramsAreLeftOutUnlessNamed(t *testing.T) {
	t.Setenv(DirEnv, t.TempDir())
	usual, err := selectPrograms(nil)
	if err != nil || len(usual["kube"]) == 0 || len(usual["node"]) != 0 {
		t.Errorf("without names: %v, error %v", usual, err)
	}
	named, err := selectPrograms(NodePrograms)
	if err != nil || len(named["node"]) == 0 || len(named["kube"]) != 0 {
		t.Errorf("with the node's: %v, error %v", named, err)
	}
	if _, err := Find("pause"); !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "build pause") {
		t.Errorf("got %v, want ErrAbsent and the command that builds it", err)
	}
}

func TestUnknownProgramIsRefusedWithTheKnownOnes(t *testing.T) {
	_, err := Find("kube-apiservre")
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver") {
		t.Errorf("got %v, want the list of programs", err)
	}
}

func TestKeyChangesWithEverythingThatDecidesTheBytes(t *testing.T) {
	write := func(dir, name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	keyOf := func(g Group, toolchain string, files map[string]string) string {
		t.Helper()
		dir := t.TempDir()
		for name, content := range files {
			write(dir, name, content)
		}
		key, err := g.key(dir, toolchain)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	group := Group{Name: "g", Programs: map[string]string{"p": "."}}
	files := map[string]string{"go.mod": "module g", "go.sum": "", "main.go": "package main"}
	base := keyOf(group, "go1", files)
	for name, other := range map[string]string{
		"another toolchain":  keyOf(group, "go2", files),
		"another build tag":  keyOf(Group{Name: "g", Programs: group.Programs, Tags: "t"}, "go1", files),
		"another dependency": keyOf(group, "go1", map[string]string{"go.mod": "module g", "go.sum": "x", "main.go": "package main"}),
		"another source":     keyOf(group, "go1", map[string]string{"go.mod": "module g", "go.sum": "", "main.go": "package main "}),
	} {
		if other == base {
			t.Errorf("%s leaves the key as it is", name)
		}
	}
	files["main_test.go"], files["README.md"] = "package main", "text"
	if keyOf(group, "go1", files) != base {
		t.Error("a test or a text changes the key")
	}
}

func TestLockIsExclusiveUntilReleased(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), io.Discard, path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := lock(ctx, io.Discard, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second lock: %v, want to wait until the deadline", err)
	}
	unlock()
	again, err := lock(t.Context(), io.Discard, path)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
