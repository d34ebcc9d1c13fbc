package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// gather makes a folder of symbolic links to the programs, named after their
// targets, so that one folder can be put on PATH and is never changed once made.
func gather(cache string, links map[string]string) (string, error) {
	lines := make([]string, 0, len(links))
	for program, target := range links {
		lines = append(lines, program+" "+target)
	}
	sort.Strings(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	dir := filepath.Join(cache, "bin-"+hex.EncodeToString(sum[:])[:keyLength])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making the folder of test programs: %w", err)
	}
	for program, target := range links {
		err := os.Symlink(target, filepath.Join(dir, program))
		if err != nil && !errors.Is(err, os.ErrExist) {
			return "", fmt.Errorf("linking %s: %w", program, err)
		}
	}
	return dir, nil
}

// CopyTo puts the programs found in dir into another folder as plain files.
func CopyTo(dir, out string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("listing test programs: %w", err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("making %s: %w", out, err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return fmt.Errorf("reading %s: %w", entry.Name(), err)
		}
		if err := writeExecutable(filepath.Join(out, entry.Name()), content); err != nil {
			return err
		}
	}
	return nil
}

// writeExecutable replaces a program in one step, also while it is running.
func writeExecutable(path string, content []byte) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, content, 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("replacing %s: %w", path, err)
	}
	return nil
}
