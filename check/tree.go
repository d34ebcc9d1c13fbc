package check

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// tree is where files are read from: the disk, or a revision of a repository. Paths are as the command line has them.
type tree interface {
	// stat follows links, lstat does not.
	stat(path string) (fs.FileInfo, error)
	lstat(path string) (fs.FileInfo, error)
	// readDir lists a directory, sorted by name.
	readDir(path string) ([]fs.DirEntry, error)
	open(path string) (io.ReadCloser, error)
	// real is the path without links, the same for every way to one file.
	real(path string) (string, error)
}

// disk is what lies there now.
type disk struct{}

func (disk) stat(path string) (fs.FileInfo, error)      { return os.Stat(path) }
func (disk) lstat(path string) (fs.FileInfo, error)     { return os.Lstat(path) }
func (disk) readDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// open does not wait for a writer: opening a pipe that nobody writes to would take for ever.
func (disk) open(path string) (io.ReadCloser, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func (disk) real(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// moved is the disk with other directories in the place of those that the command line names.
type moved struct {
	disk
	// to gives the path to read in the place of another.
	to func(string) string
}

func (m moved) stat(path string) (fs.FileInfo, error)      { return m.disk.stat(m.to(path)) }
func (m moved) lstat(path string) (fs.FileInfo, error)     { return m.disk.lstat(m.to(path)) }
func (m moved) readDir(path string) ([]fs.DirEntry, error) { return m.disk.readDir(m.to(path)) }
func (m moved) open(path string) (io.ReadCloser, error)    { return m.disk.open(m.to(path)) }
func (m moved) real(path string) (string, error)           { return m.disk.real(m.to(path)) }
