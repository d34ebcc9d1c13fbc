package store

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/olmgate/olmgate/catalog"
)

// disk keeps one file per catalog: a line with the format, a line that says what it is the content of, and the index
// in its own checksummed form.
type disk struct {
	dir    string
	limits catalog.Limits
	// mu keeps a file that is written from overtaking the removal of its catalog.
	mu sync.Mutex
}

const (
	diskFormat = "olmgate catalog cache 1\n"
	diskEnding = ".index"
	tempEnding = ".index.tmp"
	// maxLabel is the length of the second line.
	maxLabel = 16 << 10
)

// label says what a file is the content of.
type label struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
	Ref  string    `json:"ref"`
}

// openDisk makes the directory and removes files that a crash left half written.
func openDisk(dir string, limits catalog.Limits) (*disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the cache directory: %w", err)
	}
	d := &disk{dir: dir, limits: limits}
	return d, d.removeIf(func(file string) bool { return strings.HasSuffix(file, tempEnding) })
}

// file is a safe name, as a catalog's name may be as long as a file's.
func (d *disk) file(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16]) + diskEnding
}

// read returns the index of a revision. A file of something else, or a damaged one, is removed.
func (d *disk) read(name string, of revision) (*catalog.Index, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path := filepath.Join(d.dir, d.file(name))
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	index, err := decode(f, label{name, of.uid, of.ref}, d.limits)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), os.Remove(path))
	}
	return index, nil
}

// errOther is why a file that is fine is not used.
var errOther = errors.New("it is of another revision")

func decode(r io.Reader, want label, limits catalog.Limits) (*catalog.Index, error) {
	in := bufio.NewReaderSize(r, maxLabel)
	format := make([]byte, len(diskFormat))
	if _, err := io.ReadFull(in, format); err != nil || string(format) != diskFormat {
		return nil, errors.New("it is not a cache file of this version")
	}
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("its label: %w", err)
	}
	var have label
	if err := json.Unmarshal(line, &have); err != nil {
		return nil, fmt.Errorf("its label: %w", err)
	}
	if have != want {
		return nil, errOther
	}
	return catalog.Decode(in, limits)
}

// write puts a file in place in one step, unless valid says that it is not wanted any more.
func (d *disk) write(name string, l *loaded, valid func() bool) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !valid() {
		return nil
	}
	path := filepath.Join(d.dir, d.file(name))
	temp := strings.TrimSuffix(path, diskEnding) + tempEnding
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(temp)
		}
	}()
	out := bufio.NewWriterSize(f, 64<<10)
	text, err := json.Marshal(label{name, l.of.uid, l.of.ref})
	if err != nil {
		return err
	}
	if _, err = out.WriteString(diskFormat + string(text) + "\n"); err != nil {
		return err
	}
	if err = l.index.Encode(out); err != nil {
		return err
	}
	if err = out.Flush(); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// remove deletes a catalog's file, unless the catalog came back.
func (d *disk) remove(name string, back func() bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !back() {
		_ = os.Remove(filepath.Join(d.dir, d.file(name)))
	}
}

// prune removes the files of all other catalogs, so that the directory does not grow with catalogs that were deleted
// while nobody watched.
func (d *disk) prune(names []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.removeIf(func(file string) bool {
		return strings.HasSuffix(file, diskEnding) && !slices.ContainsFunc(names, func(n string) bool { return d.file(n) == file })
	})
}

// removeIf touches no file but those named like ours.
func (d *disk) removeIf(unwanted func(file string) bool) error {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if e.Type().IsRegular() && unwanted(e.Name()) {
			errs = append(errs, os.Remove(filepath.Join(d.dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// fromDisk is nil when there is nothing to use.
func (s *Store) fromDisk(name string, of revision) *catalog.Index {
	index, err := s.disk.read(name, of)
	switch {
	case err == nil:
		return index
	case errors.Is(err, os.ErrNotExist), errors.Is(err, errOther):
	default:
		s.opts.Log.Info("Ignoring the cached content of a catalog", "catalog", name, "error", err.Error())
	}
	return nil
}

func (s *Store) toDisk(name string, l *loaded) {
	err := s.disk.write(name, l, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		t := s.tracked[name]
		return t != nil && t.loaded == l
	})
	if err != nil {
		s.opts.Log.Error(err, "Keeping the content of a catalog in the cache directory", "catalog", name)
	}
}
