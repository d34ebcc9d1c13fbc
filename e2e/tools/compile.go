package tools

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// build compiles the missing programs into dir. Two runs at the same time build
// once: the second waits for the lock and then finds the work done.
func (g Group) build(ctx context.Context, progress io.Writer, moduleDir, dir string, missing []string) error {
	unlock, err := lock(ctx, progress, dir+".lock")
	if err != nil {
		return fmt.Errorf("waiting for another build of %s: %w", g.Name, err)
	}
	defer unlock()
	if missing = missingFrom(dir, missing); len(missing) == 0 {
		return nil
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "building-"+g.Name+"-")
	if err != nil {
		return fmt.Errorf("making a build folder: %w", err)
	}
	defer os.RemoveAll(temp)

	fmt.Fprintf(progress, "building %s (the first time takes about %s on 2 cores)\n", strings.Join(missing, ", "), g.FirstBuild)
	start := time.Now()
	for _, program := range missing {
		if err := g.compile(ctx, progress, moduleDir, program, filepath.Join(temp, program)); err != nil {
			return err
		}
		fmt.Fprintf(progress, "built %s after %s\n", program, time.Since(start).Round(time.Second))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making %s: %w", dir, err)
	}
	for _, program := range missing {
		if err := os.Rename(filepath.Join(temp, program), filepath.Join(dir, program)); err != nil {
			return fmt.Errorf("putting %s into the cache: %w", program, err)
		}
	}
	return nil
}

func (g Group) compile(ctx context.Context, progress io.Writer, moduleDir, program, out string) error {
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", strings.TrimSpace("-s -w " + g.LinkFlags), "-o", out}
	if g.Tags != "" {
		args = append(args, "-tags", g.Tags)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, g.Programs[program])...)
	cmd.Dir = moduleDir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	cmd.Stdout, cmd.Stderr = progress, progress
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building %s from %s: %w", program, g.Programs[program], err)
	}
	return nil
}
