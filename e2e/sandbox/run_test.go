package sandbox_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestExitCodeArrivesOutside(t *testing.T) {
	if code := startHelper(t, "exit").code(t); code != 42 {
		t.Errorf("exit code %d, want 42", code)
	}
}

func TestSandboxHasItsOwnNamesAddressesAndRuntimeFolder(t *testing.T) {
	h := startHelper(t, "look")
	for _, want := range []string{
		"hosts 10.200.0.7",
		"listening 10.200.0.7:443",
		"secrets 0 true",
		"inside true parent 1",
	} {
		if got := h.line(t); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if code := h.code(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestOrphansDoNotDisturbExitCodes(t *testing.T) {
	if code := startHelper(t, "orphans").code(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestConnectionFromOutsideIsForwardedInside(t *testing.T) {
	h := startHelper(t, "serve")
	conn, err := net.Dial("tcp", h.line(t))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	conn.Close()
	if err != nil || string(answer) != "hello from inside\n" {
		t.Errorf("answer %q, error %v", answer, err)
	}
	h.code(t)
}

func TestSignalIsForwarded(t *testing.T) {
	h := startHelper(t, "wait")
	if got := h.line(t); got != "ready" {
		t.Fatalf("got %q", got)
	}
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := h.code(t); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
}

func TestNothingSurvivesTheOuterProgram(t *testing.T) {
	h := startHelper(t, "wait")
	h.line(t)
	// Marked by its environment, which the copies inside share.
	if len(copies(t)) == 0 {
		t.Fatal("the program inside was not found")
	}
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	h.code(t)
	deadline := time.Now().Add(10 * time.Second)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for len(copies(t)) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("still running: %v", copies(t))
		}
		<-ticker.C
	}
}

// copies finds the processes that this test started as the "wait" helper.
func copies(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(content), helperEnv+"=wait\x00") {
			found = append(found, filepath.Base(filepath.Dir(file)))
		}
	}
	return found
}
