package rotation

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/olmgate/olmgate/e2e"
	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/load"
	"github.com/olmgate/olmgate/e2e/suite"
)

const (
	secondAddress = "10.200.0.11"
	webhookPort   = "9443"
	stepTimeout   = 90 * time.Second
	// settle is far shorter here than by default: there is one API server, on the same machine.
	settle = 3 * time.Second
)

// world is a cluster with two replicas of olmgate behind its Service, and failurePolicy Fail.
type world struct {
	*testing.T
	*cluster.Cluster
	kube     *rest.Config
	replicas []*gate.Gate
}

// newWorld starts a cluster of its own, with a catalog.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, Cluster: suite.NewCluster(t, cluster.Options{})}
	var err error
	if w.kube, err = clientcmd.BuildConfigFromFlags("", w.KubeconfigPath); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.tell)
	content, err := e2e.SampleCatalog("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddCatalog(w.ctx(), "a", content, 0, nil); err != nil {
		t.Fatal(err)
	}
	return w
}

// ctx bounds one step.
func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), stepTimeout)
	w.Cleanup(cancel)
	return ctx
}

func (w *world) kubectl(args ...string) string {
	w.Helper()
	out, _, err := w.Cluster.Kubectl(w.ctx(), nil, args...)
	if err != nil {
		w.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func (w *world) eventually(check func(context.Context) error) {
	w.Helper()
	if err := cluster.Poll(w.ctx(), check); err != nil {
		w.Fatal(err)
	}
}

// overlay is a folder of manifests/overlays.
func (w *world) overlay(name string) string {
	w.Helper()
	manifests, err := gate.Manifests()
	if err != nil {
		w.Fatal(err)
	}
	return filepath.Join(filepath.Dir(manifests), name)
}

// start applies an overlay and starts two replicas with these certificates.
func (w *world) start(overlay, certificates string) {
	w.Helper()
	w.kubectl("apply", "--server-side", "-k", w.overlay(overlay))
	w.fail()
	config := filepath.Join(w.TempDir(), "config.yaml")
	text := "apiVersion: config.olmgate.dev/v1alpha1\nkind: OlmgateConfiguration\ncertificates:\n  settle: " + settle.String() + "\n" + certificates
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	for i, ip := range []string{cluster.WebhookAddress, secondAddress} {
		g, err := gate.Start(w.ctx(), w.Cluster, gate.Options{
			Name: fmt.Sprintf("olmgate-%d", i+1), IP: ip, Beside: i > 0, Args: []string{"--config=" + config, "--catalogd-allowed-hosts=" + cluster.CatalogdHost},
		})
		if err != nil {
			w.Fatal(err)
		}
		w.replicas = append(w.replicas, g)
	}
	if err := gate.Expose(w.ctx(), w.Cluster, cluster.WebhookAddress, secondAddress); err != nil {
		w.Fatal(err)
	}
	for _, g := range w.replicas {
		w.eventually(func(ctx context.Context) error {
			return has(ctx, g, `olmgate_catalog_state{catalog="a",state="current"} 1`)
		})
	}
}

func (w *world) fail() {
	w.Helper()
	w.kubectl("patch", "validatingwebhookconfiguration", gate.Configuration, "--type=json", `--patch=[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Fail"}]`)
}

// cases are one that is denied and one that is allowed, whatever the certificates.
func cases() []load.Case {
	unreadable := load.Extension("unreadable", "kiln-operator")
	selector := map[string]any{"matchExpressions": []any{map[string]any{"key": "a", "operator": "Foo"}}}
	unreadable.Object["spec"].(map[string]any)["source"].(map[string]any)["catalog"].(map[string]any)["selector"] = selector
	return []load.Case{{Object: unreadable, Denied: "InvalidSelector"}, {Object: load.Extension("kiln", "kiln-operator")}}
}

// during runs a step under load, and under handshakes with every replica. Not one may fail.
func (w *world) during(step string, do func()) {
	w.Helper()
	l, err := load.Start(context.Background(), w.kube, load.Options{Cases: cases()})
	if err != nil {
		w.Fatal(err)
	}
	hands := w.shakeHands()
	pass := func(n int) {
		w.Helper()
		if err := l.Pass(w.ctx(), n); err != nil {
			w.Error(err)
		}
	}
	pass(50)
	do()
	pass(100)
	result, shaken := l.Stop(), hands.stop()
	w.Logf("%s: %s; %s", step, result, shaken)
	total = total.Add(result)
	total.Failed += shaken.failed
	if result.Failed+result.Wrong > 0 {
		w.Errorf("%s: %s: %s", step, result, strings.Join(result.FirstFailures, "\n"))
	}
	if shaken.failed > 0 {
		w.Errorf("%s: %s", step, shaken)
	}
}

// rotated waits until every replica has replaced its certificate more often than before; authority is same or other.
func (w *world) rotated(authority string, trigger func()) {
	w.Helper()
	var before []float64
	for _, g := range w.replicas {
		before = append(before, w.rotations(g, authority))
	}
	trigger()
	for i, g := range w.replicas {
		w.eventually(func(context.Context) error {
			if now := w.rotations(g, authority); now <= before[i] {
				return fmt.Errorf("replica %d has replaced its certificate by one of %s authority %v times, as before", i+1, authority, now)
			}
			return nil
		})
	}
}

func (w *world) rotations(g *gate.Gate, authority string) float64 {
	w.Helper()
	text, err := g.Metrics(w.ctx())
	if err != nil {
		w.Fatal(err)
	}
	var n float64
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, fmt.Sprintf("olmgate_certificate_rotations_total{authority=%q} ", authority)); ok {
			if _, err := fmt.Sscan(rest, &n); err != nil {
				w.Fatal(err)
			}
		}
	}
	return n
}

func has(ctx context.Context, g *gate.Gate, line string) error {
	text, err := g.Metrics(ctx)
	if err == nil && !strings.Contains(text, line) {
		err = fmt.Errorf("no %s in the metrics", line)
	}
	return err
}

// bundle is the caBundle of the webhook.
func (w *world) bundle(ctx context.Context) ([]byte, error) {
	out, _, err := w.Cluster.Kubectl(ctx, nil, "get", "validatingwebhookconfiguration", gate.Configuration, "-o", "jsonpath={.webhooks[0].clientConfig.caBundle}")
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(strings.TrimSpace(out))
}

// authorities are how many the caBundle holds.
func (w *world) authorities(ctx context.Context) (int, error) {
	text, err := w.bundle(ctx)
	return bytes.Count(text, []byte("BEGIN CERTIFICATE")), err
}

// tell logs what olmgate said of certificates, when a test has failed.
func (w *world) tell() {
	if !w.Failed() {
		return
	}
	logs, _ := filepath.Glob(filepath.Join(w.Dir, "logs", "olmgate-*.log"))
	for _, file := range logs {
		text, err := os.ReadFile(file)
		if err != nil {
			w.Error(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, `"msg":"denied"`) {
				w.Logf("%s: %s", filepath.Base(file), line)
			}
		}
	}
}
