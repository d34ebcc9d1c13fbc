package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// ErrAbsent says that a program has not been built yet.
var ErrAbsent = errors.New("test programs are not built yet")

// Ensure returns a folder that holds the named programs (when none is named, all
// that do not wait for it), building what is missing and reporting that on progress.
func Ensure(ctx context.Context, progress io.Writer, names ...string) (string, error) {
	return resolve(names, func(g Group, moduleDir, dir string, missing []string) error {
		return g.build(ctx, progress, moduleDir, dir, missing)
	})
}

// Find is Ensure for callers that must not wait for a build: it returns
// ErrAbsent when a program is missing.
func Find(names ...string) (string, error) {
	return resolve(names, func(_ Group, _, _ string, missing []string) error {
		command := "go run ./e2e/tools/build"
		if len(names) > 0 {
			command += " " + strings.Join(names, " ")
		}
		return fmt.Errorf("%w: %s; build with: %s", ErrAbsent, strings.Join(missing, ", "), command)
	})
}

// resolve finds the cache folder of every wanted program, lets absent deal with
// what is missing, and gathers links to all of them in one folder.
func resolve(names []string, absent func(g Group, moduleDir, dir string, missing []string) error) (string, error) {
	root, err := ModuleRoot()
	if err != nil {
		return "", err
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	goVersion, err := toolchain(root)
	if err != nil {
		return "", err
	}
	wanted, err := selectPrograms(names)
	if err != nil {
		return "", err
	}
	links := map[string]string{}
	for _, g := range Groups {
		if len(wanted[g.Name]) == 0 {
			continue
		}
		moduleDir := g.dir(root)
		key, err := g.key(moduleDir, goVersion)
		if err != nil {
			return "", err
		}
		dir := filepath.Join(cache, key)
		if missing := missingFrom(dir, wanted[g.Name]); len(missing) > 0 {
			if err := absent(g, moduleDir, dir, missing); err != nil {
				return "", err
			}
		}
		for _, program := range wanted[g.Name] {
			links[program] = filepath.Join("..", key, program)
		}
	}
	return gather(cache, links)
}

// selectPrograms sorts the named programs by group.
func selectPrograms(names []string) (map[string][]string, error) {
	wanted, known := map[string][]string{}, map[string]bool{}
	for _, g := range Groups {
		for _, program := range g.names() {
			known[program] = true
			if (len(names) == 0 && !g.OnRequest) || slices.Contains(names, program) {
				wanted[g.Name] = append(wanted[g.Name], program)
			}
		}
	}
	for _, name := range names {
		if !known[name] {
			all := make([]string, 0, len(known))
			for program := range known {
				all = append(all, program)
			}
			sort.Strings(all)
			return nil, fmt.Errorf("unknown program %q: choose from %s", name, strings.Join(all, ", "))
		}
	}
	return wanted, nil
}

func missingFrom(dir string, programs []string) []string {
	var missing []string
	for _, program := range programs {
		if info, err := os.Stat(filepath.Join(dir, program)); err != nil || !info.Mode().IsRegular() {
			missing = append(missing, program)
		}
	}
	return missing
}
