package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/joelanford/ignore"
)

const ignoreFile = ".indexignore"

// ErrNoFiles is wrapped when a directory has no file that could hold a File-Based Catalog.
var ErrNoFiles = errors.New("no catalog files")

// ReadFS builds the index of a directory of FBC files. As in OLM's own tools every file counts, whatever its name,
// but those that .indexignore files leave out, which use the patterns of gitignore. The same faults as with Read are
// refused, with the file's path below root.
func ReadFS(root fs.FS, limits Limits) (*Index, error) {
	matcher, err := ignore.NewMatcher(root, ignoreFile)
	if err != nil {
		return nil, fmt.Errorf("reading %s files: %w", ignoreFile, err)
	}
	b := newBuilder(limits)
	files := 0
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name != "." && matcher.Match(name, true) {
				return fs.SkipDir
			}
			return nil
		case path.Base(name) == ignoreFile || matcher.Match(name, false):
			return nil
		}
		if files++; files > b.limits.Files {
			return fmt.Errorf("%w: more than %d files", ErrLimit, b.limits.Files)
		}
		return b.readFile(root, name)
	})
	if err != nil {
		return nil, err
	}
	if files == 0 {
		return nil, fmt.Errorf("%w: the directory holds no file, or %s leaves out all of them", ErrNoFiles, ignoreFile)
	}
	return b.index(), nil
}

func (b *builder) readFile(root fs.FS, name string) error {
	info, err := fs.Stat(root, name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &Error{File: name, Err: errors.New("it is not a regular file")}
	}
	file, err := root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return b.read(file, name)
}
