//go:build unix

package source

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPipesAreRefusedWithoutWaiting(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "a.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for name, discover := range map[string]func() ([]Offline, error){
		"in the directory": func() ([]Offline, error) { return Discover(dir) },
		"by hand":          func() ([]Offline, error) { return Discover("", ByHand{Name: "a", Path: pipe}) },
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := discover(); err == nil || !strings.Contains(err.Error(), "not a regular file") || !strings.Contains(err.Error(), pipe) {
				t.Errorf("got %v", err)
			}
		})
	}
}
