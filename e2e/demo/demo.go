package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/olmgate/olmgate/e2e"
	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/sandbox"
)

// apiSocket names the socket through which the caller's shell gets in.
const apiSocket = "api"

type demo struct {
	binary, manifests string
	keep              bool
	out               io.Writer
	cluster           *cluster.Cluster
}

// run sets the stage, plays the scenes and, when asked to, stays.
func (d *demo) run(ctx context.Context) error {
	c, err := cluster.Start(ctx, cluster.Options{Log: d.note})
	if err != nil {
		return err
	}
	d.cluster = c
	defer func() {
		if err := c.Remove(); err != nil {
			fmt.Fprintln(os.Stderr, "demo:", err)
		}
	}()
	if err := d.setStage(ctx); err != nil {
		c.DumpLogs(os.Stderr, 10)
		return err
	}
	wrong, err := d.play(ctx, scenes)
	if err != nil {
		return err
	}
	if d.keep {
		if err := d.stay(ctx); err != nil {
			return err
		}
	}
	if len(wrong) > 0 {
		return errors.New("unexpected answers: " + strings.Join(wrong, "; "))
	}
	return nil
}

// setStage adds the catalogs and starts olmgate.
func (d *demo) setStage(ctx context.Context) error {
	for _, name := range []string{"community", "operatorhubio", "a"} {
		d.note("adding catalog %s", name)
		content, err := e2e.SampleCatalog(name)
		if err != nil {
			return err
		}
		if err := d.cluster.AddCatalog(ctx, name, content, 0, nil); err != nil {
			return err
		}
	}
	d.note("starting olmgate")
	_, err := gate.Start(ctx, d.cluster, gate.Options{
		Binary:    os.Getenv(binaryEnv),
		Manifests: os.Getenv(manifestsEnv),
	})
	return err
}

// stay hands the cluster to the caller until it is told to end.
func (d *demo) stay(ctx context.Context) error {
	path := filepath.Join(d.cluster.Dir, "outside.kubeconfig")
	if err := d.cluster.ForwardAPI(sandbox.Listener(apiSocket), path); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "\nThe cluster stays up until Ctrl-C. In another shell:\n\n"+
		"    export KUBECONFIG=%s\n    kubectl get clustercatalogs,clusterextensions\n\n"+
		"olmgate's log: %s\n", path, filepath.Join(d.cluster.Dir, "logs", "olmgate.log"))
	<-ctx.Done()
	fmt.Fprintln(d.out, "\nstopping")
	return nil
}

func (d *demo) note(format string, args ...any) {
	fmt.Fprintf(d.out, "· "+format+"\n", args...)
}
