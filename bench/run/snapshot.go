package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"golang.org/x/sync/errgroup"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/snapshot"
	"github.com/olmgate/olmgate/catalog/source"
)

// largestFour are the largest of the real catalogs, 345 MB in all.
var largestFour = []string{"certified-all", "community", "community-v4.20", "operatorhubio"}

// openers bring several catalogs at once, as the command line does; files has one snapshot or each catalog's content.
var openers = map[string]func(files []string) (any, error){
	"snapshot": func(files []string) (any, error) { return snapshot.ReadFile(files[0], catalog.Limits{}) },
	"olmgate": func(files []string) (any, error) {
		return each(files, func(file string) (any, error) { return source.LoadPath(file, catalog.Limits{}) })
	},
	"declcfg": func(files []string) (any, error) {
		return each(files, func(file string) (any, error) {
			text, err := readCatalog(file)
			if err != nil {
				return nil, err
			}
			return declcfg.LoadReader(bytes.NewReader(text))
		})
	},
}

// each does it for two files at a time.
func each(files []string, load func(string) (any, error)) (any, error) {
	all := make([]any, len(files))
	var group errgroup.Group
	group.SetLimit(2)
	for i, file := range files {
		group.Go(func() (err error) {
			all[i], err = load(file)
			return err
		})
	}
	return all, group.Wait()
}

// childOpen opens catalogs once and prints the seconds: child-open OPENER FILE...
func childOpen(args []string) error {
	start := time.Now()
	keep, err := openers[args[0]](args[1:])
	if err != nil {
		return err
	}
	took := time.Since(start).Seconds()
	runtime.KeepAlive(keep)
	return json.NewEncoder(os.Stdout).Encode(took)
}

// open runs one child on two cores.
func open(ctx context.Context, opener string, files ...string) (seconds float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"child-open", opener}, files...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("opening by %s: %w", opener, err)
	}
	return seconds, json.Unmarshal(out, &seconds)
}

// snapshot compares the time to load the largest four catalogs from a snapshot with that from their content.
func (b *bench) snapshot(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "olmgate-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "catalogs.olmgate")
	args := []string{"catalog", "snapshot", "-o", file}
	var contents []string
	for _, name := range largestFour {
		contents = append(contents, b.path(name))
		args = append(args, "--catalog", name+"="+b.path(name))
	}
	if out, err := exec.CommandContext(ctx, b.binary, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("making the snapshot: %w: %s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	took := map[string][]float64{}
	for range loadRounds {
		for opener, files := range map[string][]string{"snapshot": {file}, "olmgate": contents, "declcfg": contents} {
			seconds, err := open(ctx, opener, files...)
			if err != nil {
				return err
			}
			took[opener] = append(took[opener], 1e3*seconds)
		}
	}
	size, ms := float64(info.Size())/1e6, median(took["snapshot"])
	b.alone("snapshot of the four largest catalogs: size", size, "MB", "<= 8", size <= 8)
	b.alone("snapshot of the four largest catalogs: load", ms, "ms", "<= 300", ms <= 300)
	b.against("that, against declcfg.LoadReader of their content", ms, median(took["declcfg"]), "ms", "ratio <= 0.05", func(r float64) bool { return r <= 0.05 })
	b.against("that, against olmgate's own reader of their content", ms, median(took["olmgate"]), "ms", "", nil)
	return nil
}
