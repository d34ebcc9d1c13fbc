package check

import (
	"io/fs"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// gitInfo is what a tree says of a file.
type gitInfo struct{ e gitEntry }

func (i gitInfo) Name() string { return i.e.name }

// Size is not known without reading the file.
func (i gitInfo) Size() int64        { return 0 }
func (i gitInfo) ModTime() time.Time { return time.Time{} }
func (i gitInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i gitInfo) Sys() any           { return nil }

func (i gitInfo) Mode() fs.FileMode {
	switch i.e.mode {
	case filemode.Dir, filemode.Submodule:
		return fs.ModeDir | 0o755
	case filemode.Symlink:
		return fs.ModeSymlink | 0o777
	case filemode.Executable:
		return 0o755
	}
	return 0o644
}
