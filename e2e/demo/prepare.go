package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
)

// Variables that carry what prepare found into the sandbox.
const (
	binaryEnv    = "OLMGATE_DEMO_BINARY"
	manifestsEnv = "OLMGATE_DEMO_MANIFESTS"
)

// prepare runs outside the sandbox: it builds what is missing.
func (d *demo) prepare() error {
	ctx := context.Background()
	if err := cluster.Prepare(ctx, os.Stderr, true); err != nil {
		return err
	}
	var err error
	if d.manifests == "" {
		if d.manifests, err = gate.Manifests(); err != nil {
			return err
		}
	}
	if d.binary == "" {
		if d.binary, err = gate.Build(ctx); err != nil {
			return err
		}
	}
	for name, path := range map[string]string{binaryEnv: d.binary, manifestsEnv: d.manifests} {
		path, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("nothing to show: %w", err)
		}
		if err := os.Setenv(name, path); err != nil {
			return err
		}
	}
	return nil
}
