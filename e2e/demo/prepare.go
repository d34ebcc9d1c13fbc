package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/tools"
)

// Variables that carry what prepare found into the sandbox.
const (
	binaryEnv    = "OLMGATE_DEMO_BINARY"
	manifestsEnv = "OLMGATE_DEMO_MANIFESTS"
)

// prepare runs outside the sandbox: it builds what is missing.
func (d *demo) prepare() error {
	ctx := context.Background()
	root, err := tools.ModuleRoot()
	if err != nil {
		return err
	}
	if err := cluster.Prepare(ctx, os.Stderr, true); err != nil {
		return err
	}
	if d.manifests == "" {
		d.manifests = filepath.Join(root, "manifests", "base")
	}
	if d.binary == "" {
		if d.binary, err = buildOlmgate(ctx, root); err != nil {
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

func buildOlmgate(ctx context.Context, root string) (string, error) {
	cache, err := tools.CacheDir()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(cache, "demo-olmgate")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/olmgate")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building olmgate: %w", err)
	}
	return binary, nil
}
