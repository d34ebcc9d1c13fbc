package source

import (
	"fmt"
	"os"
	"strings"
)

// ByHand is content that was named on the command line.
type ByHand struct {
	// Name of the ClusterCatalog.
	Name string
	// Path of the file or directory with its content.
	Path string
}

// ParseByHand reads NAME=PATH.
func ParseByHand(s string) (ByHand, error) {
	name, path, found := strings.Cut(s, "=")
	if !found || name == "" || path == "" {
		return ByHand{}, fmt.Errorf("%q: write it as NAME=PATH, for example operatorhubio=./catalog.jsonl", s)
	}
	if why := badName(name); why != "" {
		return ByHand{}, fmt.Errorf("%q: %q is no name of a ClusterCatalog: %s", s, name, why)
	}
	return ByHand{Name: name, Path: path}, nil
}

// check makes sure that there is content to read at all.
func (b ByHand) check() error {
	info, err := os.Stat(b.Path)
	if err != nil {
		return fmt.Errorf("content of catalog %q: %w", b.Name, err)
	}
	if info.IsDir() {
		return nil
	}
	if !info.Mode().IsRegular() {
		// It is read twice, first to see what it is; opening a pipe that nobody writes to would wait for ever.
		return fmt.Errorf("content of catalog %q: %s is not a regular file: write its content to a file first", b.Name, b.Path)
	}
	if found := sniff(b.Path); found.class == classManifest {
		return fmt.Errorf("content of catalog %q: %s holds manifests, not a File-Based Catalog: give its directory by --catalogs", b.Name, b.Path)
	}
	return nil
}
