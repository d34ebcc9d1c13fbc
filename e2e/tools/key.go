package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// keyLength is how much of a hash names a cache folder.
const keyLength = 16

// toolchain returns the version and platform of the go command, which are part
// of every cache key.
func toolchain(moduleDir string) (string, error) {
	cmd := exec.Command("go", "env", "GOVERSION", "GOOS", "GOARCH")
	cmd.Dir = moduleDir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("asking go for its version in %s: %w", moduleDir, err)
	}
	return strings.Join(strings.Fields(string(out)), " "), nil
}

// key names the cache folder of a group: it changes when anything that decides
// the bytes of its programs changes.
func (g Group) key(moduleDir, toolchain string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, toolchain, g.Tags, g.LinkFlags)
	for _, program := range g.names() {
		fmt.Fprintln(h, program, g.Programs[program])
	}
	files, err := filepath.Glob(filepath.Join(moduleDir, "*"))
	if err != nil {
		return "", err
	}
	for _, file := range files {
		base := filepath.Base(file)
		if base != "go.mod" && base != "go.sum" && !isSource(base) {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("hashing the sources of %s: %w", g.Name, err)
		}
		fmt.Fprintln(h, base, len(content))
		h.Write(content)
	}
	return g.Name + "-" + hex.EncodeToString(h.Sum(nil))[:keyLength], nil
}

func isSource(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

// names returns the group's programs in a stable order.
func (g Group) names() []string {
	names := make([]string, 0, len(g.Programs))
	for name := range g.Programs {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
