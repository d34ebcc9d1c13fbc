package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
)

// onCluster measures what needs an API server and a catalogd with the four catalogs.
func (b *bench) onCluster(ctx context.Context) error {
	binary, err := filepath.Abs(b.binary)
	if err != nil {
		return err
	}
	c, err := cluster.Start(ctx, cluster.Options{Log: func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}})
	if err != nil {
		return fmt.Errorf("starting the control plane: %w", err)
	}
	defer func() {
		c.Stop()
		c.Remove()
	}()
	for _, name := range bigFour {
		ref, err := c.PushCatalogFile(ctx, name, b.path(name))
		if err != nil {
			return err
		}
		if err := c.ApplyCatalog(ctx, name, ref, 0, nil); err != nil {
			return err
		}
	}
	if err := c.WaitServing(ctx, bigFour...); err != nil {
		return err
	}
	if b.wants("memory") {
		fmt.Fprintln(os.Stderr, "measuring memory")
		if err := b.serveMemory(ctx, c, binary); err != nil {
			return fmt.Errorf("memory: %w", err)
		}
	}
	if b.wants("status") {
		fmt.Fprintln(os.Stderr, "measuring the status writer")
		if err := b.statusWriter(ctx, c, binary); err != nil {
			return fmt.Errorf("status writer: %w", err)
		}
	}
	if b.wants("admission") {
		fmt.Fprintln(os.Stderr, "measuring admission")
		if err := b.admission(ctx, c); err != nil {
			return fmt.Errorf("admission: %w", err)
		}
	}
	return nil
}

// settle is how long serve is left alone before its memory is read.
const settle = 60 * time.Second

// serveMemory measures olmgate serve with four catalogs that came from catalogd.
func (b *bench) serveMemory(ctx context.Context, c *cluster.Cluster, binary string) error {
	g, err := gate.Start(ctx, c, gate.Options{Binary: binary, Manifests: filepath.Join("..", "manifests", "overlays", "enforce")})
	if err != nil {
		return err
	}
	defer g.Process.Terminate(10 * time.Second)
	if err := cluster.Poll(ctx, func(ctx context.Context) error { return allCurrent(ctx, g.MetricsURL+"/metrics") }); err != nil {
		return err
	}
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return ctx.Err()
	}
	anon, err := memory(g.Process.PID(), "RssAnon")
	if err != nil {
		return err
	}
	rss, err := memory(g.Process.PID(), "VmRSS")
	if err != nil {
		return err
	}
	b.alone("serve with four catalogs, 60 s after: RssAnon", anon/1e6, "MB", "<= 40", anon <= 40e6)
	b.alone("serve with four catalogs, 60 s after: VmRSS", rss/1e6, "MB", "", true)
	return nil
}
