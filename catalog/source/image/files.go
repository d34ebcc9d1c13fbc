package image

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// files shows a node and what is below it as a file system without contents, but for those that are kept.
type files struct{ root *node }

// Open implements fs.FS.
func (f files) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	n := f.root
	for _, part := range split(name) {
		if part != "." {
			n = n.children[part]
		}
		if n == nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
	}
	i := info{name: name, node: n}
	if parts := split(name); len(parts) > 0 {
		i.name = parts[len(parts)-1]
	}
	return &file{info: i, Reader: bytes.NewReader(n.text)}, nil
}

// ReadDir implements fs.ReadDirFS.
func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	opened, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	n := opened.(*file).node
	var list []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		list = append(list, fs.FileInfoToDirEntry(info{name, n.children[name]}))
	}
	return list, nil
}

type file struct {
	info
	io.Reader
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *file) Close() error               { return nil }

// info describes a node, without size and time.
type info struct {
	name string
	node *node
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(len(i.node.text)) }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.node.kind == tar.TypeDir }
func (i info) Sys() any           { return nil }

func (i info) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
