package snapshot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/olmgate/olmgate/catalog"
)

// ReadFile reads a snapshot from a file; errors name it.
func ReadFile(path string, limits catalog.Limits) (*Snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := Decode(f, limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// IsFile reports whether a file begins like a snapshot.
func IsFile(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, len(formatName))
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == formatName
}

// WriteFile puts a snapshot into a file in one step: whoever reads the file meanwhile sees the old one or the new one,
// never a part. A file that is there keeps its mode; a symbolic link stays, and the file that it leads to is replaced.
func WriteFile(path string, s *Snapshot) (err error) {
	mode := os.FileMode(0o666)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	default:
		mode = info.Mode().Perm()
	}
	temp, err := createTemp(path, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if err := s.Encode(temp); err != nil {
		return err
	}
	if info != nil {
		// What the umask took away when the file was created anew.
		if err := temp.Chmod(mode); err != nil {
			return err
		}
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// createTemp makes a new file beside path, with the mode that the umask leaves, as os.CreateTemp does not.
func createTemp(path string, mode os.FileMode) (*os.File, error) {
	dir, base := filepath.Split(path)
	for n := 0; ; n++ {
		name := filepath.Join(dir, fmt.Sprintf(".%.100s.%d-%d.tmp", base, os.Getpid(), n))
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if !errors.Is(err, os.ErrExist) || n > 100 {
			return f, err
		}
	}
}
