package sandbox_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// However the program ends, the machine looks as it did before.
func TestNothingIsLeftOfContainers(t *testing.T) {
	for name, end := range map[string]func(*helper) error{
		"told to end": func(h *helper) error { return h.cmd.Process.Signal(syscall.SIGTERM) },
		"killed":      func(h *helper) error { return h.cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			const setting = "/proc/sys/vm/panic_on_oom"
			before, err := os.ReadFile(setting)
			if err != nil {
				t.Skip(err)
			}
			h := startHelper(t, "contain")
			group, dir := h.line(t), h.line(t)
			if got := h.line(t); got != "ready" {
				t.Fatalf("got %q", got)
			}
			if len(leftovers(t, group, dir)) < 2 {
				t.Fatalf("control group %s or folder %s is not there", group, dir)
			}
			if now, err := os.ReadFile(setting); err != nil || string(now) != string(before) {
				t.Errorf("a setting of the machine was changed: %q, error %v", now, err)
			}
			if err := end(h); err != nil {
				t.Fatal(err)
			}
			h.code(t)
			deadline := time.Now().Add(10 * time.Second)
			ticker := time.NewTicker(10 * time.Millisecond)
			defer ticker.Stop()
			for len(leftovers(t, group, dir)) > 0 {
				if time.Now().After(deadline) {
					t.Fatalf("left behind: %v", leftovers(t, group, dir))
				}
				<-ticker.C
			}
		})
	}
}

// leftovers lists what exists of a sandbox outside of it.
func leftovers(t *testing.T, group, dir string) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{dir, "/sys/fs/cgroup" + group, "/sys/fs/cgroup/*" + group} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, files...)
	}
	return found
}
