package status

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/suite"
	"github.com/olmgate/olmgate/status"
)

const (
	stepTimeout   = 2 * time.Minute
	firstAddress  = "10.200.0.10"
	secondAddress = "10.200.0.11"
)

// ownTypes are the conditions that olmgate writes.
var ownTypes = []string{status.TypeDeprecated, status.TypeResolved, status.TypeUpdateAvailable}

// world is the shared cluster with olmgate's manifests, and without its webhook, so that extensions that do not resolve can
// be stored.
type world struct {
	*testing.T
	*cluster.Cluster
	kube   *rest.Config
	client client.WithWatch
}

// newWorld returns the shared cluster without catalogs and extensions.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, Cluster: suite.Cluster(t)}
	var err error
	if w.kube, err = clientcmd.BuildConfigFromFlags("", w.KubeconfigPath); err != nil {
		t.Fatal(err)
	}
	w.kube.QPS = -1
	scheme := runtime.NewScheme()
	utilruntime.Must(ocv1.AddToScheme(scheme))
	if w.client, err = client.NewWithWatch(w.kube, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	w.kubectl("apply", "--server-side", "-k", w.kustomization("status-writer"))
	w.kubectl("delete", "validatingwebhookconfiguration", gate.Configuration, "--ignore-not-found")
	w.kubectl("delete", "lease", status.LeaseName, "--namespace="+gate.Namespace, "--ignore-not-found")
	t.Cleanup(func() {
		for _, kind := range []string{"clusterextensions", "clustercatalogs"} {
			w.kubectl("delete", kind, "--all", "--timeout=60s")
		}
	})
	return w
}

// kustomization is one of the enforcing overlay with a component more.
func (w *world) kustomization(component string) string {
	w.Helper()
	overlay, err := gate.Manifests()
	if err != nil {
		w.Fatal(err)
	}
	// kubectl takes no absolute paths, and nothing outside of a root of its own but by relative ones.
	dir, err := os.MkdirTemp(w.Dir, "kustomization-")
	if err != nil {
		w.Fatal(err)
	}
	relative, err := filepath.Rel(dir, filepath.Dir(filepath.Dir(overlay)))
	if err != nil {
		w.Fatal(err)
	}
	text := fmt.Sprintf("resources: [%s/overlays/enforce]\ncomponents: [%s/components/%s]\n", relative, relative, component)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return dir
}

// ctx bounds one step. It outlives the test's own context, for what is done in a cleanup.
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

// writer starts a status writer, which ends with the test.
func (w *world) writer(name, ip string, args ...string) *gate.Gate {
	w.Helper()
	return w.writerBy("", name, ip, args...)
}

// writerBy is a writer that reaches the API server as a kubeconfig says.
func (w *world) writerBy(kubeconfig, name, ip string, args ...string) *gate.Gate {
	w.Helper()
	g, err := gate.StartWriter(w.ctx(), w.Cluster, gate.Options{
		Name: name, IP: ip, Kubeconfig: kubeconfig, Args: append([]string{"--catalogd-allowed-hosts=" + cluster.CatalogdHost}, args...),
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { g.Process.Terminate(20 * time.Second) })
	return g
}

// catalog adds or changes a catalog.
func (w *world) catalog(name string, priority int32, content []byte) {
	w.Helper()
	ref, err := w.PushCatalog(w.ctx(), name, content)
	if err != nil {
		w.Fatal(err)
	}
	if err := w.ApplyCatalog(w.ctx(), name, ref, priority, nil); err != nil {
		w.Fatal(err)
	}
	if err := w.WaitServing(w.ctx(), name); err != nil {
		w.Fatal(err)
	}
}

// priority changes that of a catalog.
func (w *world) priority(name string, n int) {
	w.Helper()
	w.kubectl("patch", "clustercatalog", name, "--type=merge", fmt.Sprintf(`--patch={"spec":{"priority":%d}}`, n))
}

// extension is a ClusterExtension that asks for a package.
func extension(name, pkg, version string, channels ...string) *ocv1.ClusterExtension {
	ext := &ocv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name}}
	ext.Spec.Namespace = "default"
	ext.Spec.Source = ocv1.SourceConfig{SourceType: ocv1.SourceTypeCatalog, Catalog: &ocv1.CatalogFilter{
		PackageName: pkg, Version: version, Channels: channels, UpgradeConstraintPolicy: ocv1.UpgradeConstraintPolicyCatalogProvided,
	}}
	return ext
}

// add creates an extension, with this version of its package installed unless it is "".
func (w *world) add(ext *ocv1.ClusterExtension, bundle, version string) {
	w.Helper()
	if err := w.client.Create(w.ctx(), ext); err != nil {
		w.Fatal(err)
	}
	if bundle != "" {
		ext.Status.Install = &ocv1.ClusterExtensionInstallStatus{Bundle: ocv1.BundleMetadata{Name: bundle, Version: version}}
		if err := w.client.Status().Update(w.ctx(), ext); err != nil {
			w.Fatal(err)
		}
	}
}

// extensions are those of the cluster, by name.
func (w *world) extensions() map[string]*ocv1.ClusterExtension {
	w.Helper()
	var list ocv1.ClusterExtensionList
	if err := w.client.List(w.ctx(), &list); err != nil {
		w.Fatal(err)
	}
	all := map[string]*ocv1.ClusterExtension{}
	for i := range list.Items {
		all[list.Items[i].Name] = &list.Items[i]
	}
	return all
}

// verdict is what olmgate resolve and olmgate status say of an extension.
type verdict struct {
	Extension, Outcome, Reason, Message, Catalog string
	Bundle                                       *struct{ Name, Version, Release string }
	Update                                       struct{ Available, Reason, Message string }
}

// olmgate runs a command of the binary against the cluster; what it resolves does not all have to succeed.
func (w *world) olmgate(args ...string) []byte {
	w.Helper()
	binary, err := gate.Build(w.ctx())
	if err != nil {
		w.Fatal(err)
	}
	var errs bytes.Buffer
	cmd := exec.CommandContext(w.ctx(), binary, append(args, "--kubeconfig="+w.KubeconfigPath)...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 2) {
		w.Fatalf("olmgate %s: %v: %s", args[0], err, errs.String())
	}
	return out
}

// verdicts are those of all extensions, by the command line.
func (w *world) verdicts() map[string]verdict {
	w.Helper()
	var list struct{ Items []verdict }
	names := slices.Sorted(maps.Keys(w.extensions()))
	if err := json.Unmarshal(w.olmgate(append([]string{"resolve", "-o", "json"}, names...)...), &list); err != nil {
		w.Fatal(err)
	}
	all := map[string]verdict{}
	for _, v := range list.Items {
		all[v.Extension] = v
	}
	return all
}

var statusOf = map[string]metav1.ConditionStatus{"Resolved": metav1.ConditionTrue, "Failed": metav1.ConditionFalse, "Undecided": metav1.ConditionUnknown}

// fits says what is wrong with the conditions of an extension, given its verdict.
func fits(ext *ocv1.ClusterExtension, v verdict) error {
	c := condition(ext, status.TypeResolved)
	switch {
	case c == nil:
		return fmt.Errorf("%s has no condition %s", ext.Name, status.TypeResolved)
	case c.Status != statusOf[v.Outcome] || c.Reason != v.Reason || c.ObservedGeneration != ext.Generation || !strings.HasPrefix(c.Message, v.Message):
		return fmt.Errorf("%s is at generation %d and has %+v, want %s %s: %s", ext.Name, ext.Generation, *c, v.Outcome, v.Reason, v.Message)
	case v.Bundle != nil && !strings.Contains(c.Message, v.Bundle.Name+" from catalog "+v.Catalog+" "):
		return fmt.Errorf("%s has message %q, want %s of catalog %s", ext.Name, c.Message, v.Bundle.Name, v.Catalog)
	}
	for _, name := range ownTypes {
		if c := condition(ext, name); c == nil || c.ObservedGeneration != ext.Generation || c.LastTransitionTime.IsZero() {
			return fmt.Errorf("%s has condition %s: %+v", ext.Name, name, c)
		}
	}
	return nil
}

func condition(ext *ocv1.ClusterExtension, name string) *metav1.Condition {
	for i := range ext.Status.Conditions {
		if c := &ext.Status.Conditions[i]; c.Type == name {
			return c
		}
	}
	return nil
}

// allFit says what is wrong with the conditions of all extensions.
func (w *world) allFit() error {
	w.Helper()
	return errors.Join(w.misfits()...)
}

func (w *world) misfits() []error {
	w.Helper()
	verdicts := w.verdicts()
	var wrong []error
	for name, ext := range w.extensions() {
		if err := fits(ext, verdicts[name]); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// settled waits until no write has happened for a while and all conditions fit.
func (w *world) settled() {
	w.Helper()
	var last map[string]string
	w.eventually(func(ctx context.Context) error {
		now := w.versions()
		if !maps.Equal(now, last) {
			last = now
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			return errors.New("extensions are being written")
		}
		return w.allFit()
	})
}

// versions are the resource versions of all extensions.
func (w *world) versions() map[string]string {
	all := map[string]string{}
	for name, ext := range w.extensions() {
		all[name] = ext.ResourceVersion
	}
	return all
}

// resolved waits until an extension has this reason.
func (w *world) resolved(name, reason string) {
	w.Helper()
	w.eventually(func(ctx context.Context) error {
		var ext ocv1.ClusterExtension
		if err := w.client.Get(ctx, client.ObjectKey{Name: name}, &ext); err != nil {
			return err
		}
		if c := condition(&ext, status.TypeResolved); c == nil || c.Reason != reason {
			return fmt.Errorf("extension %s has %+v, want reason %s", name, c, reason)
		}
		return nil
	})
}

// metric is the value of a series of a process, 0 when it has none.
func (w *world) metric(g *gate.Gate, series string) float64 {
	w.Helper()
	text, err := g.Metrics(w.ctx())
	if err != nil {
		w.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			var n float64
			if _, err := fmt.Sscan(rest, &n); err != nil {
				w.Fatal(err)
			}
			return n
		}
	}
	return 0
}

const writesSeries = `olmgate_status_writes_total{result="success"}`

// chain is a package with a channel stable in which each version replaces the one before.
func chain(pkg string, versions ...string) []byte {
	var out bytes.Buffer
	line := func(v any) {
		if err := json.NewEncoder(&out).Encode(v); err != nil {
			panic(err) // cannot be: only maps, lists and strings come here
		}
	}
	line(map[string]any{"schema": "olm.package", "name": pkg, "defaultChannel": "stable"})
	var entries []any
	for i, v := range versions {
		e := map[string]any{"name": pkg + ".v" + v}
		if i > 0 {
			e["replaces"] = pkg + ".v" + versions[i-1]
		}
		entries = append(entries, e)
		line(map[string]any{"schema": "olm.bundle", "package": pkg, "name": pkg + ".v" + v, "image": "registry.example.com/" + pkg + ":" + v,
			"properties": []any{map[string]any{"type": "olm.package", "value": map[string]any{"packageName": pkg, "version": v}}}})
	}
	line(map[string]any{"schema": "olm.channel", "package": pkg, "name": "stable", "entries": entries})
	return out.Bytes()
}
