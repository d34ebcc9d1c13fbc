package image

import (
	"archive/tar"
	"fmt"
	"path"
	"slices"
	"strings"
)

// node is a file or directory of the image, as far as the configs directory is concerned: what is in it, and what is
// around it.
type node struct {
	kind     byte // of tar.Header
	children map[string]*node
	// layer and entry are where its last form came from, counted from 0.
	layer, entry int
	// text is the content of a file that is needed before the others.
	text []byte
}

// tree puts layers over each other.
type tree struct {
	root *node
	// configs are the parts of the path of the configs directory.
	configs []string
	layer   int
	// gone and opaque are what the present layer removes of those below it.
	gone, opaque map[string]bool
	nodes        int
	most         int // nodes
}

const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
	// maxPath is the length of a path in bytes, as of Linux.
	maxPath = 4096
)

func newTree(configs string, most int) *tree {
	return &tree{root: &node{kind: tar.TypeDir}, configs: split(configs), most: most}
}

// split is the parts of a clean path; none for the root.
func split(p string) []string {
	if p = strings.Trim(path.Clean("/"+p), "/"); p == "" {
		return nil
	}
	return strings.Split(p, "/")
}

func (t *tree) begin(layer int) {
	t.layer, t.gone, t.opaque = layer, map[string]bool{}, map[string]bool{}
}

// place says where a path lies.
type place int

const (
	elsewhere place = iota
	above           // the configs directory is in it
	within          // it is the configs directory, or in that
)

func (t *tree) where(parts []string) place {
	n := min(len(parts), len(t.configs))
	switch {
	case !slices.Equal(parts[:n], t.configs[:n]):
		return elsewhere
	case n == len(t.configs):
		return within
	}
	return above
}

// add takes an entry of the present layer. It returns the file when that counts.
func (t *tree) add(h *tar.Header, entry int) (*node, error) {
	if strings.HasPrefix(h.Name, "/") || slices.Contains(strings.Split(h.Name, "/"), "..") {
		return nil, fmt.Errorf("%w: the path %.100q leads out of the image", ErrRefused, h.Name)
	}
	parts := split(h.Name)
	if len(parts) == 0 {
		return nil, nil
	}
	if base := parts[len(parts)-1]; strings.HasPrefix(base, whiteout) {
		return nil, t.remove(parts[:len(parts)-1], base)
	}
	at := t.where(parts)
	if at == elsewhere {
		return nil, nil
	}
	if len(h.Name) > maxPath {
		return nil, fmt.Errorf("%w: a path is longer than %d bytes", ErrLimit, maxPath)
	}
	if at == within && len(parts) == len(t.configs) && h.Typeflag == tar.TypeReg {
		at = above
	}
	if err := allowed(h, at, "/"+strings.Join(parts, "/")); err != nil {
		return nil, err
	}
	n, err := t.reach(parts[:len(parts)-1])
	if err != nil {
		return nil, err
	}
	name := parts[len(parts)-1]
	child := n.children[name]
	if child == nil || h.Typeflag != tar.TypeDir || child.kind != tar.TypeDir {
		if child, err = t.grow(n, name); err != nil {
			return nil, err
		}
	}
	child.kind, child.layer, child.entry, child.text = h.Typeflag, t.layer, entry, nil
	if at == within && child.kind == tar.TypeReg {
		return child, nil
	}
	return nil, nil
}

// allowed refuses what a catalog has no use for where it would matter.
func allowed(h *tar.Header, at place, name string) error {
	switch h.Typeflag {
	case tar.TypeDir:
		return nil
	case tar.TypeReg:
		if at == within {
			return nil
		}
		return fmt.Errorf("%w: %.100q is not a directory", ErrRefused, name)
	case tar.TypeSymlink:
		if to := path.Join(path.Dir(name), h.Linkname); at == within && !path.IsAbs(h.Linkname) && !strings.HasPrefix(h.Linkname, "..") {
			return fmt.Errorf("%w: %.100q is a symbolic link to %.100q, and olmgate reads regular files only: put the file itself there", ErrRefused, name, to)
		}
		return fmt.Errorf("%w: %.100q is a symbolic link to %.100q, which may lead out of the catalog", ErrRefused, name, h.Linkname)
	case tar.TypeLink:
		return fmt.Errorf("%w: %.100q is a hard link to %.100q: put the file itself there", ErrRefused, name, h.Linkname)
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return fmt.Errorf("%w: %.100q is a device or pipe", ErrRefused, name)
	}
	return fmt.Errorf("%w: %.100q is not a directory and not a regular file", ErrRefused, name)
}

// reach is the directory of that path, made where it is missing.
func (t *tree) reach(parts []string) (*node, error) {
	n := t.root
	for i, name := range parts {
		child := n.children[name]
		if child == nil {
			var err error
			if child, err = t.grow(n, name); err != nil {
				return nil, err
			}
			child.kind, child.layer = tar.TypeDir, t.layer
		}
		if child.kind != tar.TypeDir {
			return nil, fmt.Errorf("%w: a file lies below %.100q, which is not a directory", ErrRefused, "/"+strings.Join(parts[:i+1], "/"))
		}
		n = child
	}
	return n, nil
}

func (t *tree) grow(n *node, name string) (*node, error) {
	if t.nodes++; t.nodes > t.most {
		return nil, fmt.Errorf("%w: the catalog has more than %d files and directories", ErrLimit, t.most)
	}
	if n.children == nil {
		n.children = map[string]*node{}
	}
	child := &node{}
	n.children[name] = child
	return child, nil
}

// remove notes a whiteout.
func (t *tree) remove(dir []string, base string) error {
	name := strings.TrimPrefix(base, whiteout)
	switch {
	case base == opaque:
		if t.where(dir) != elsewhere {
			t.opaque[strings.Join(dir, "/")] = true
		}
		return nil
	case strings.HasPrefix(name, whiteout):
		return nil // of storage drivers, for themselves
	case name == "" || name == "." || name == "..":
		return fmt.Errorf("%w: the whiteout %.100q leads out of its directory", ErrRefused, base)
	}
	if parts := append(slices.Clone(dir), name); t.where(parts) != elsewhere {
		t.gone[strings.Join(parts, "/")] = true
	}
	if len(t.gone)+len(t.opaque) > t.most {
		return fmt.Errorf("%w: a layer removes more than %d files", ErrLimit, t.most)
	}
	return nil
}

// end removes what whiteouts of the present layer say of those below it.
func (t *tree) end() {
	for dir := range t.opaque {
		if n := t.at(split(dir)); n != nil {
			t.clear(n)
		}
	}
	for p := range t.gone {
		parts := split(p)
		if dir := t.at(parts[:len(parts)-1]); dir != nil {
			t.prune(dir, parts[len(parts)-1])
		}
	}
}

func (t *tree) at(parts []string) *node {
	n := t.root
	for _, name := range parts {
		if n = n.children[name]; n == nil {
			return nil
		}
	}
	return n
}

// clear removes what lower layers have in a directory.
func (t *tree) clear(n *node) {
	for name := range n.children {
		t.prune(n, name)
	}
}

// prune removes what lower layers have of a child.
func (t *tree) prune(n *node, name string) {
	child := n.children[name]
	if child == nil {
		return
	}
	t.clear(child)
	if child.layer < t.layer && len(child.children) == 0 {
		delete(n.children, name)
	}
}
