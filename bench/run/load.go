package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/olmgate/olmgate/catalog"
)

const loadRounds = 5

// loaders read a whole catalog from memory and return what must stay alive.
var loaders = map[string]func(text []byte) (any, error){
	"olmgate": func(text []byte) (any, error) { return catalog.Read(bytes.NewReader(text), catalog.Limits{}) },
	"declcfg": func(text []byte) (any, error) { return declcfg.LoadReader(bytes.NewReader(text)) },
	"json": func(text []byte) (any, error) {
		dec := json.NewDecoder(bytes.NewReader(text))
		for n := 0; ; n++ {
			var head struct{ Schema, Name, Package string }
			if err := dec.Decode(&head); errors.Is(err, io.EOF) {
				return n, nil
			} else if err != nil {
				return nil, err
			}
		}
	},
}

// loaded is what one child measured.
type loaded struct {
	Seconds float64
	// Peak is the memory at its highest beyond what was there before, in bytes.
	Peak float64
}

// childLoad loads one catalog once: child-load LOADER FILE.
func childLoad(args []string) error {
	fs := flag.NewFlagSet("child-load", flag.ContinueOnError)
	if err := fs.Parse(args); err != nil {
		return err
	}
	text, err := readCatalog(fs.Arg(1))
	if err != nil {
		return err
	}
	runtime.GC()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return fmt.Errorf("resetting the peak: %w", err)
	}
	before, err := memory(os.Getpid(), "VmRSS")
	if err != nil {
		return err
	}
	start := time.Now()
	keep, err := loaders[fs.Arg(0)](text)
	if err != nil {
		return err
	}
	took := time.Since(start)
	peak, err := memory(os.Getpid(), "VmHWM")
	if err != nil {
		return err
	}
	runtime.KeepAlive(keep)
	runtime.KeepAlive(text)
	return json.NewEncoder(os.Stdout).Encode(loaded{took.Seconds(), peak - before})
}

func readCatalog(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return io.ReadAll(z)
}

// runLoad runs one child on one core.
func (b *bench) runLoad(ctx context.Context, loader, catalog string) (loaded, error) {
	self, err := os.Executable()
	if err != nil {
		return loaded{}, err
	}
	cmd := exec.CommandContext(ctx, self, "child-load", loader, b.path(catalog))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return loaded{}, fmt.Errorf("%s of %s: %w", loader, catalog, err)
	}
	var l loaded
	return l, json.Unmarshal(out, &l)
}

// load compares the time and memory it takes to load a catalog.
func (b *bench) load(ctx context.Context) error {
	for _, name := range bigFour {
		text, err := readCatalog(b.path(name))
		if err != nil {
			return err
		}
		megabytes := float64(len(text)) / 1e6
		text = nil
		speed := map[string][]float64{}
		peak := map[string][]float64{}
		for range loadRounds {
			for _, loader := range []string{"olmgate", "declcfg", "json"} {
				l, err := b.runLoad(ctx, loader, name)
				if err != nil {
					return err
				}
				speed[loader] = append(speed[loader], megabytes/l.Seconds)
				peak[loader] = append(peak[loader], l.Peak/1e6)
			}
		}
		ours := median(speed["olmgate"])
		b.against("index load of "+name+", against declcfg.LoadReader", ours, median(speed["declcfg"]), "MB/s", "ratio >= 15", func(r float64) bool { return r >= 15 })
		b.against("index load of "+name+", against json.Decoder", ours, median(speed["json"]), "MB/s", "", nil)
		b.against("peak memory of that, against declcfg.LoadReader", median(peak["olmgate"]), median(peak["declcfg"]), "MB", "ratio <= 0.25", func(r float64) bool { return r <= 0.25 })
	}
	return nil
}
