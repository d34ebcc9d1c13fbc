package catalog

import (
	"errors"
	"fmt"
	"io"
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
	b := newBuilder(limits)
	files, err := Files(root, limits)
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if err := b.readFile(root, name); err != nil {
			return nil, err
		}
	}
	return b.index(), nil
}

// ReadEach builds the index of files that come one after the other, as out of an archive: each calls add for every
// file, in any order, with its path for errors. An error of add or each ends it.
func ReadEach(limits Limits, each func(add func(name string, r io.Reader) error) error) (*Index, error) {
	b := newBuilder(limits)
	if err := each(func(name string, r io.Reader) error { return b.read(r, name) }); err != nil {
		return nil, err
	}
	return b.index(), nil
}

// Files are the paths of the files of a directory that ReadFS would read, in the order of fs.WalkDir. Of the files
// themselves only .indexignore ones are opened. It is an error that wraps ErrNoFiles when there is none.
func Files(root fs.FS, limits Limits) ([]string, error) {
	limits = limits.withDefaults()
	matcher, err := ignore.NewMatcher(root, ignoreFile)
	if err != nil {
		return nil, fmt.Errorf("reading %s files: %w", ignoreFile, err)
	}
	var files []string
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
		if files = append(files, name); len(files) > limits.Files {
			return fmt.Errorf("%w: more than %d files", ErrLimit, limits.Files)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: the directory holds no file, or %s leaves out all of them", ErrNoFiles, ignoreFile)
	}
	return files, nil
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
