package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/olmgate/olmgate/e2e"
	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/suite"
)

// soon bounds what takes a moment: a download, a watch, a restart.
const soon = 45 * time.Second

// scriptedHost is where the scripted catalog server listens. olmgate may call it besides catalogd.
const scriptedHost = "10.200.0.20:8443"

// world is the shared cluster with olmgate as its webhook, and without catalogs and extensions but those that the test
// adds.
type world struct {
	*cluster.Cluster
	*testing.T
	gate *gate.Gate
}

// running is the webhook of the shared cluster, once it is started.
var running struct {
	cluster *cluster.Cluster
	gate    *gate.Gate
}

// gated returns the shared cluster with olmgate running as its webhook, starting it for the first test.
func gated(t *testing.T) *world {
	t.Helper()
	w := &world{Cluster: suite.Cluster(t), T: t}
	if running.cluster != w.Cluster {
		manifests, err := gate.Manifests()
		if err != nil {
			t.Fatal(err)
		}
		w.start(gate.Options{Manifests: manifests})
	}
	w.gate = running.gate
	w.forgotten()
	t.Cleanup(w.clear)
	return w
}

// forgotten waits until olmgate has heard that the catalogs of earlier tests are gone. Its watch may be late, after a
// restart of the API server for example, and a catalog of the same name would be taken for the one before.
func (w *world) forgotten() {
	w.Helper()
	w.eventually(func() error {
		metrics, err := w.metrics(w.gate)
		if err != nil {
			return err
		}
		if known := grep(metrics, "olmgate_catalog_state{"); len(known) > 0 {
			return fmt.Errorf("olmgate still knows catalogs of an earlier test: %q", known)
		}
		return nil
	})
}

// start starts olmgate as the webhook.
func (w *world) start(options gate.Options) {
	w.Helper()
	options.Args = append(options.Args, "--catalogd-allowed-hosts="+cluster.CatalogdHost+","+scriptedHost)
	running.cluster = nil // the next test starts it when this does not work
	g, err := gate.Start(w.ctx(), w.Cluster, options)
	if err != nil {
		w.Fatal(err)
	}
	running.cluster, running.gate, w.gate = w.Cluster, g, g
}

// restart stops olmgate and starts it again with other flags; the test ends with the usual ones.
func (w *world) restart(flags ...string) {
	w.Helper()
	w.stop()
	w.start(gate.Options{Args: flags})
	if len(flags) > 0 {
		w.Cleanup(func() {
			w.stop()
			w.start(gate.Options{})
		})
	}
}

func (w *world) stop() {
	w.Helper()
	if !w.gate.Stop() {
		w.Errorf("olmgate did not end by itself; its last words:\n%s", w.gate.Process.Tail(10))
	}
}

// clear deletes what a test left in the cluster.
func (w *world) clear() {
	for _, kind := range []string{"clusterextensions", "clustercatalogs"} {
		if _, _, err := w.Cluster.Kubectl(w.ctx(), nil, "delete", kind, "--all", "--timeout=20s"); err != nil {
			w.Errorf("cleaning up: %v", err)
		}
	}
}

// ctx bounds one step of a test. It outlives the test's own context, for what is done in a cleanup.
func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	w.Cleanup(cancel)
	return ctx
}

// eventually polls until check returns nil.
func (w *world) eventually(check func() error) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx(), soon)
	defer cancel()
	if err := cluster.Poll(ctx, func(context.Context) error { return check() }); err != nil {
		w.Fatal(err)
	}
}

// catalog adds catalogs of one content and waits until olmgate has it.
func (w *world) catalog(content []byte, priority int32, names ...string) {
	w.Helper()
	for _, name := range names {
		ref, err := w.PushCatalog(w.ctx(), name, content)
		if err != nil {
			w.Fatal(err)
		}
		if err := w.ApplyCatalog(w.ctx(), name, ref, priority, nil); err != nil {
			w.Fatal(err)
		}
	}
	if err := w.WaitServing(w.ctx(), names...); err != nil {
		w.Fatal(err)
	}
	w.inState("current", names...)
}

// sample adds sample catalogs under their own names.
func (w *world) sample(priority int32, names ...string) {
	w.Helper()
	for _, name := range names {
		content, err := e2e.SampleCatalog(name)
		if err != nil {
			w.Fatal(err)
		}
		w.catalog(content, priority, name)
	}
}

// inState waits until olmgate's metrics have the catalogs in a state.
func (w *world) inState(state string, names ...string) {
	w.Helper()
	w.eventually(func() error {
		metrics, err := w.metrics(w.gate)
		if err != nil {
			return err
		}
		for _, name := range names {
			if line := fmt.Sprintf("olmgate_catalog_state{catalog=%q,state=%q} 1\n", name, state); !strings.Contains(metrics, line) {
				return fmt.Errorf("catalog %s is not %s: %q", name, state, grep(metrics, fmt.Sprintf("olmgate_catalog_state{catalog=%q", name)))
			}
		}
		return nil
	})
}

// metrics is what an olmgate's /metrics says.
func (w *world) metrics(g *gate.Gate) (string, error) {
	return g.Metrics(w.ctx())
}

// grep returns the lines that begin with a text.
func grep(text, prefix string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
