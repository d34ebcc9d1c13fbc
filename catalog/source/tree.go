package source

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
)

// maxEntries and maxDepth bound what is looked at below a directory.
const (
	maxEntries = 200_000
	maxDepth   = 64
)

// entry is a file or directory below the directory that is searched.
type entry struct {
	path string
	// name is the catalog's name if this is its content: the directory's name, or the file's without its endings.
	name     string
	dir      bool
	children []*entry
	// found is what a file holds; catalogs are its manifests.
	found    sniffed
	catalogs []*ocv1.ClusterCatalog
}

// grow reads a directory, sorted. Hidden entries are left out, and so are files of names that neither content nor
// manifests have. Links are followed, but not to a directory that encloses them.
func grow(dir string) (*entry, error) {
	left := maxEntries
	return growBelow(dir, nil, &left)
}

func growBelow(dir string, above []string, left *int) (*entry, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	node := &entry{path: dir, name: filepath.Base(dir), dir: true}
	if slices.Contains(above, real) {
		return node, nil
	}
	if len(above) >= maxDepth {
		return nil, fmt.Errorf("%s: more than %d directories deep", dir, maxDepth)
	}
	above = append(slices.Clip(above), real)
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if *left--; *left < 0 {
			return nil, fmt.Errorf("%s: more than %d files: give the directory that holds the catalogs only", dir, maxEntries)
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		name, fits := stem(e.Name())
		switch {
		case info.IsDir():
			child, err := growBelow(path, above, left)
			if err != nil {
				return nil, err
			}
			node.children = append(node.children, child)
		case fits && !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s: it is named like content of a catalog and is not a regular file", path)
		case fits:
			node.children = append(node.children, leaf(path, name))
		}
	}
	return node, nil
}

func leaf(path, name string) *entry {
	e := &entry{path: path, name: name, found: sniff(path)}
	if e.found.class == classManifest {
		var err error
		if e.catalogs, err = readManifests(path); err != nil {
			e.found = sniffed{classBroken, err}
		}
	}
	return e
}

// any reports whether f holds for the entry or one below it.
func (e *entry) any(f func(*entry) bool) bool {
	return f(e) || slices.ContainsFunc(e.children, func(c *entry) bool { return c.any(f) })
}

// holdsFBC reports whether there is a File-Based Catalog in it.
func (e *entry) holdsFBC() bool {
	return e.any(func(c *entry) bool { return c.found.class == classFBC })
}

// declares counts the manifests of a catalog in it.
func (e *entry) declares(name string) int {
	n := 0
	e.any(func(c *entry) bool {
		for _, cc := range c.catalogs {
			if cc.Name == name {
				n++
			}
		}
		return false
	})
	return n
}
