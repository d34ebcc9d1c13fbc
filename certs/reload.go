package certs

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// reloadInterval is how often files are read again. They are small, and reading them notices every way of changing
// them: in place, by rename, and the symbolic links that kubelet swaps.
const reloadInterval = 2 * time.Second

// maxFile bounds how much of a file is read.
const maxFile = 1 << 20

// reloaded is a value that is made of files, again when they change. While they cannot be read, or make no sense, the
// value before stays.
type reloaded[T any] struct {
	paths []string
	parse func(contents [][]byte) (T, error)
	clock clock.WithTicker
	log   *slog.Logger

	value atomic.Pointer[T]
	// contents of the files when they were read last, and what was said about them.
	contents [][]byte
	said     string
}

// load reads the files. changed is set when they make another value.
func (r *reloaded[T]) load() (changed bool, err error) {
	contents := make([][]byte, len(r.paths))
	for i, path := range r.paths {
		if contents[i], err = readFile(path); err != nil {
			return false, err
		}
	}
	if r.value.Load() != nil && slices.EqualFunc(contents, r.contents, bytes.Equal) {
		return false, nil
	}
	value, err := r.parse(contents)
	if err != nil {
		return false, err
	}
	r.contents = contents
	r.value.Store(&value)
	return true, nil
}

func readFile(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxFile {
		return nil, fmt.Errorf("read %s: it is larger than %d bytes", path, maxFile)
	}
	return os.ReadFile(path)
}

// run reads the files again and again until the context ends. A problem is logged once.
func (r *reloaded[T]) run(ctx context.Context, changed func(T)) {
	ticker := r.clock.NewTicker(reloadInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			r.again(changed)
		}
	}
}

func (r *reloaded[T]) again(changed func(T)) {
	news, err := r.load()
	switch {
	case err != nil && err.Error() != r.said:
		r.said = err.Error()
		r.log.Error("changed files cannot be used; what they held before stays in use", "files", r.paths, "error", err)
	case err == nil:
		r.said = ""
	}
	if news {
		changed(*r.value.Load())
	}
}
