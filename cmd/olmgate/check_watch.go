package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	engine "github.com/olmgate/olmgate/check"
)

// watchInterval is how often files are looked at. They are polled: that works on every file system, and costs a stat of
// each file.
const watchInterval = time.Second

// follow checks, and again whenever a file has changed, until it is interrupted.
func (o *checkOptions) follow(ctx context.Context, s streams, paths []string, outputs []output, once func() error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ticks := time.NewTicker(watchInterval)
	defer ticks.Stop()
	written := map[string]bool{} // what is written here is no reason to look again
	for _, out := range outputs {
		if at, err := filepath.Abs(out.file); out.file != "" && err == nil {
			written[at] = true
		}
	}
	before := o.state(paths, written)
	for {
		var code status
		if err := once(); err != nil && !errors.As(err, &code) {
			s.say("%v", err)
		}
		for changed := false; !changed; {
			select {
			case <-ctx.Done():
				return nil
			case <-ticks.C:
			}
			now := o.state(paths, written)
			changed = now != before
			before = now
		}
		fmt.Fprintf(s.out, "\n--- %s\n", time.Now().Format(time.TimeOnly))
	}
}

// state is the same as long as no file is added, removed or written.
func (o *checkOptions) state(paths []string, written map[string]bool) uint64 {
	sum := fnv.New64a()
	note := func(name string, info fs.FileInfo) {
		fmt.Fprintf(sum, "%s %d %d %s\n", name, info.Size(), info.ModTime().UnixNano(), info.Mode())
	}
	look := func(name string) {
		_ = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what is away is another state
			}
			if entry.IsDir() && path != name && strings.HasPrefix(entry.Name(), ".") {
				return filepath.SkipDir
			}
			if at, err := filepath.Abs(path); err == nil && written[at] {
				return nil
			}
			if info, err := entry.Info(); err == nil && !entry.IsDir() {
				note(path, info)
			}
			return nil
		})
	}
	for _, name := range paths {
		look(name)
	}
	for _, name := range o.watched() {
		look(name)
	}
	return sum.Sum64()
}

// watched are the files and directories beside the inputs that an answer depends on.
func (o *checkOptions) watched() []string {
	var list []string
	for _, dir := range o.kustomize {
		list = append(list, engine.KustomizationDirs(dir)...)
	}
	if o.catalogs.dir != "" {
		list = append(list, o.catalogs.dir)
	}
	list = append(list, o.catalogs.snapshots...)
	for _, text := range o.catalogs.byHand {
		if _, path, found := strings.Cut(text, "="); found && !strings.Contains(path, "://") {
			list = append(list, path)
		}
	}
	for _, name := range []string{o.baseline, o.configFile, configName} {
		if name != "" {
			list = append(list, name)
		}
	}
	if o.installed != "" && o.installed != "cluster" {
		list = append(list, o.installed)
	}
	return list
}
