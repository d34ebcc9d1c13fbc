package tools

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// DirEnv overrides where built programs are kept.
const DirEnv = "OLMGATE_TOOLS_DIR"

var moduleLine = []byte("module github.com/olmgate/olmgate\n")

// CacheDir returns the folder all built programs are kept below.
func CacheDir() (string, error) {
	if dir := os.Getenv(DirEnv); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder for the test programs, set %s: %w", DirEnv, err)
	}
	return filepath.Join(dir, "olmgate", "tools"), nil
}

// ModuleRoot returns the root of the olmgate source tree that holds the working
// directory.
func ModuleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.Contains(content, moduleLine) {
			return dir, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("looking for the olmgate module: %w", err)
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside the olmgate source tree: run this from a checkout", start)
		}
	}
}
