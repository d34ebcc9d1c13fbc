package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// checkManifests are how many manifests olmgate check is measured with, in files of checkPerFile.
const (
	checkManifests = 5000
	checkPerFile   = 10
)

// check measures olmgate check on a repository full of manifests, with a snapshot of the four largest catalogs. Its peer is olmgate
// resolve on the same files, which looks at neither positions nor schemas.
func (b *bench) check(ctx context.Context) error {
	binary, err := filepath.Abs(b.binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "olmgate-bench-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	snapshot := filepath.Join(dir, "catalogs.olmgate")
	args := []string{"catalog", "snapshot", "-o", snapshot}
	for _, name := range largestFour {
		args = append(args, "--catalog", name+"="+b.path(name))
	}
	if out, err := exec.CommandContext(ctx, binary, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("making the snapshot: %w: %s", err, out)
	}
	manifests := filepath.Join(dir, "manifests")
	if err := b.writeManifests(manifests); err != nil {
		return err
	}
	took, peak, err := best(ctx, binary, "check", manifests, "--snapshot", snapshot, "--offline")
	if err != nil {
		return err
	}
	peer, _, err := best(ctx, binary, "resolve", "-f", manifests, "--snapshot", snapshot)
	if err != nil {
		return err
	}
	b.against("check of 5,000 manifests with a snapshot of the four largest catalogs, against resolve of the same", took.Seconds(), peer.Seconds(), "s", "<= 2 s", nil)
	b.results[len(b.results)-1].Met = took <= 2*time.Second
	b.alone("peak memory of that", peak/1e6, "MB", "<= 150", peak <= 150e6)
	return nil
}

// writeManifests writes extensions of every package in turn, each third with a version that is not there.
func (b *bench) writeManifests(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var packages []string
	catalogOf := map[string]string{}
	for _, name := range largestFour {
		index, err := readIndex(b.path(name))
		if err != nil {
			return err
		}
		for _, p := range index.Packages() {
			if catalogOf[p.Name] == "" {
				packages = append(packages, p.Name)
				catalogOf[p.Name] = name
			}
		}
	}
	for file := range checkManifests / checkPerFile {
		var text []byte
		for i := range checkPerFile {
			n := file*checkPerFile + i
			pkg := packages[n%len(packages)]
			version := ""
			if n%3 == 0 {
				version = "\n      version: 9999.0.0"
			}
			text = fmt.Appendf(text, `---
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata:
  name: ext-%d
spec:
  namespace: ns-%d
  source:
    sourceType: Catalog
    catalog:
      packageName: %s%s
      selector:
        matchLabels:
          olm.operatorframework.io/metadata.name: %s
`, n, n, pkg, version, catalogOf[pkg])
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("apps-%03d.yaml", file)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// best runs a command of olmgate, whose findings are no failure, and returns the shortest time of three and the largest
// resident memory. That of the process's usage would be what this one had when it started it.
func best(ctx context.Context, binary string, args ...string) (took time.Duration, peak float64, err error) {
	for range 3 {
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Stdout, cmd.Stderr = &out, &out
		begun := time.Now()
		if err := cmd.Start(); err != nil {
			return 0, 0, err
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for running := true; running; {
			select {
			case err = <-ended:
				running = false
			case <-time.After(5 * time.Millisecond):
				if now, err := memory(cmd.Process.Pid, "VmHWM"); err == nil {
					peak = max(peak, now)
				}
			}
		}
		if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 2) {
			return 0, 0, fmt.Errorf("olmgate %s: %w: %.500s", args[0], err, out.String())
		}
		if d := time.Since(begun); took == 0 || d < took {
			took = d
		}
	}
	return took, peak, nil
}
