package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/resolver"
)

// writerExtensions are how many extensions the status writer is measured with.
const writerExtensions = 1000

// Revisions of one catalog.
const revisionBefore, revisionAfter = "community-v4.20", "community"

// statusWriter measures what the status writer does when a catalog changes, with extensions of all of its packages.
func (b *bench) statusWriter(ctx context.Context, c *cluster.Cluster, binary string) error {
	kustomization := filepath.Join("..", "manifests", "components", "status-writer")
	if err := writerRights(ctx, c, kustomization); err != nil {
		return err
	}
	index, err := readIndex(b.path(revisionBefore))
	if err != nil {
		return err
	}
	if err := serve(ctx, c, revisionBefore, b.path(revisionBefore)); err != nil {
		return err
	}
	g, err := gate.StartWriter(ctx, c, gate.Options{Binary: binary, Name: "status-writer", IP: writerAddress, Args: []string{"--status-write-rate=100", "--catalogd-allowed-hosts=" + cluster.CatalogdHost}})
	if err != nil {
		return err
	}
	defer g.Process.Terminate(10 * time.Second)
	w := &measuredWriter{Gate: g}
	if err := w.await(ctx, fmt.Sprintf("olmgate_catalog_state{catalog=%q,state=\"current\"}", revised), 1); err != nil {
		return err
	}
	time.Sleep(5 * time.Second) // what loading leaves behind goes back to the system
	empty, err := memory(g.Process.PID(), "RssAnon")
	if err != nil {
		return err
	}
	extensions, err := createExtensions(ctx, c, index)
	if err != nil {
		return err
	}
	if err := w.await(ctx, writesSeries, writerExtensions); err != nil {
		return err
	}
	time.Sleep(settle)
	full, err := memory(g.Process.PID(), "RssAnon")
	if err != nil {
		return err
	}
	grown := (full - empty) / 1e6
	b.alone("status writer: memory (RssAnon) per 1,000 extensions", grown, "MB", "<= 50", grown <= 50)

	took, err := w.reevaluation(ctx, c, b.path(revisionBefore))
	if err != nil {
		return err
	}
	alone := resolveAll(index, extensions)
	b.against("status writer: 1,000 extensions evaluated after a new digest, against resolving them in a loop", took.Seconds()*1e3, alone.Seconds()*1e3, "ms", "<= 1000 ms", nil)
	b.results[len(b.results)-1].Met = took <= time.Second

	before, err := w.quiet(ctx, 0)
	if err != nil {
		return err
	}
	old, err := conditionsOf(ctx, c)
	if err != nil {
		return err
	}
	if err := serve(ctx, c, revisionAfter, b.path(revisionAfter)); err != nil {
		return err
	}
	writes, err := w.quiet(ctx, before)
	if err != nil {
		return err
	}
	now, err := conditionsOf(ctx, c)
	if err != nil {
		return err
	}
	changed := 0.0
	for name, text := range now {
		if text != old[name] {
			changed++
		}
	}
	b.against("status writer: API writes after a new revision of a catalog, against changed verdicts", writes-before, changed, "writes", "ratio = 1", func(ratio float64) bool { return ratio == 1 })
	return nil
}

const (
	writerAddress = "10.200.0.10"
	// priority is above that of the four catalogs.
	priority     = 100
	revised      = "revised"
	writesSeries = `olmgate_status_writes_total{result="success"}`
)

// writerRights applies the base, for the namespace, and the component with the writer.
func writerRights(ctx context.Context, c *cluster.Cluster, component string) error {
	for _, file := range []string{
		filepath.Join("..", "manifests", "base", "namespace.yaml"),
		filepath.Join(component, "serviceaccount.yaml"), filepath.Join(component, "rbac.yaml"), filepath.Join(component, "deployment.yaml"),
	} {
		if _, _, err := c.Kubectl(ctx, nil, "apply", "--server-side", "-f", file); err != nil {
			return err
		}
	}
	// What admission thinks of these extensions is measured elsewhere.
	_, _, err := c.Kubectl(ctx, nil, "delete", "validatingwebhookconfiguration", gate.Configuration, "--ignore-not-found")
	return err
}

// serve has the catalog that is revised serve a revision, and waits until it does.
func serve(ctx context.Context, c *cluster.Cluster, revision, file string) error {
	ref, err := c.PushCatalogFile(ctx, "revised-"+strings.ReplaceAll(revision, ".", "-"), file)
	if err != nil {
		return err
	}
	if err := c.ApplyCatalog(ctx, revised, ref, priority, nil); err != nil {
		return err
	}
	return cluster.Poll(ctx, func(ctx context.Context) error {
		out, _, err := c.Kubectl(ctx, nil, "get", "clustercatalog", revised, "-o", "jsonpath={.status.resolvedSource.image.ref}")
		if err == nil && !strings.HasPrefix(out, strings.TrimSuffix(ref, ":latest")+"@") {
			err = fmt.Errorf("catalogd serves %q", out)
		}
		return err
	})
}

func readIndex(path string) (*catalog.Index, error) {
	text, err := readCatalog(path)
	if err != nil {
		return nil, err
	}
	index, err := loaders["olmgate"](text)
	if err != nil {
		return nil, err
	}
	return index.(*catalog.Index), nil
}

func newClient(c *cluster.Cluster) (client.Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.KubeconfigPath)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := ocv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// createExtensions adds extensions of every package in turn, of which every second has the oldest bundle installed.
func createExtensions(ctx context.Context, c *cluster.Cluster, index *catalog.Index) ([]*ocv1.ClusterExtension, error) {
	kube, err := newClient(c)
	if err != nil {
		return nil, err
	}
	packages := index.Packages()
	list := make([]*ocv1.ClusterExtension, writerExtensions)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i := range list {
		group.Go(func() error {
			p := packages[i%len(packages)]
			ext := newExtension(p.Name, "")
			ext.Name, ext.Spec.Namespace = fmt.Sprintf("ext-%04d", i), "default"
			ext.Spec.Source.SourceType = ocv1.SourceTypeCatalog
			list[i] = ext
			if err := kube.Create(ctx, ext); err != nil {
				return err
			}
			if i%2 == 0 || len(p.Bundles) == 0 {
				return nil
			}
			install := ocv1.ClusterExtensionInstallStatus{Bundle: ocv1.BundleMetadata{Name: p.Bundles[0].Name, Version: p.Bundles[0].Version.String()}}
			patch, err := json.Marshal(map[string]any{"status": map[string]any{"install": install}})
			if err != nil {
				return err
			}
			return kube.Status().Patch(ctx, ext, client.RawPatch(types.MergePatchType, patch))
		})
	}
	return list, group.Wait()
}

// resolveAll is how long the answers alone take.
func resolveAll(index *catalog.Index, extensions []*ocv1.ClusterExtension) time.Duration {
	catalogs := []resolver.Catalog{{Name: revised, Serving: true, Content: catalog.Content{Index: index}}}
	begun := time.Now()
	for _, ext := range extensions {
		resolver.Outlook(ext, catalogs, resolver.RulePackage)
	}
	return time.Since(begun)
}

// conditionsOf are olmgate's conditions of every extension, without their times.
func conditionsOf(ctx context.Context, c *cluster.Cluster) (map[string]string, error) {
	kube, err := newClient(c)
	if err != nil {
		return nil, err
	}
	var list ocv1.ClusterExtensionList
	if err := kube.List(ctx, &list); err != nil {
		return nil, err
	}
	all := map[string]string{}
	for i := range list.Items {
		for _, cond := range list.Items[i].Status.Conditions {
			all[list.Items[i].Name] += fmt.Sprintln(cond.Type, cond.Status, cond.Reason, cond.ObservedGeneration, cond.Message)
		}
	}
	return all, nil
}

// measuredWriter is a status writer whose metrics are read.
type measuredWriter struct{ *gate.Gate }

// value is that of a series, 0 without one.
func (w *measuredWriter) value(ctx context.Context, series string) (n float64, err error) {
	text, err := w.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			_, err = fmt.Sscan(rest, &n)
		}
	}
	return n, err
}

func (w *measuredWriter) await(ctx context.Context, series string, least float64) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return cluster.Poll(ctx, func(ctx context.Context) error {
		n, err := w.value(ctx, series)
		if err == nil && n < least {
			err = fmt.Errorf("%s is %v, not %v", series, n, least)
		}
		return err
	})
}

// quiet waits until nothing was written for some seconds after the catalog was loaded, and returns how many writes there
// were in all.
func (w *measuredWriter) quiet(ctx context.Context, before float64) (float64, error) {
	if err := w.await(ctx, fmt.Sprintf("olmgate_catalog_state{catalog=%q,state=\"current\"}", revised), 1); err != nil {
		return 0, err
	}
	last, since := before, time.Now()
	for time.Since(since) < 5*time.Second {
		n, err := w.value(ctx, writesSeries)
		if err != nil {
			return 0, err
		}
		if n != last {
			last, since = n, time.Now()
		}
		time.Sleep(100 * time.Millisecond)
	}
	return last, nil
}

// reevaluation is the time from when the content of a new digest was in place until the last extension was evaluated. In that
// content every bundle has another image, so that every package differs, and no condition does.
func (w *measuredWriter) reevaluation(ctx context.Context, c *cluster.Cluster, file string) (time.Duration, error) {
	text, err := readCatalog(file)
	if err != nil {
		return 0, err
	}
	text = bytes.ReplaceAll(text, []byte(`"image":"`), []byte(`"image":"mirror.`))
	text = bytes.ReplaceAll(text, []byte(`"image": "`), []byte(`"image": "mirror.`))
	other, err := os.CreateTemp("", "olmgate-bench-*.jsonl")
	if err != nil {
		return 0, err
	}
	defer os.Remove(other.Name())
	if _, err := other.Write(text); err != nil {
		return 0, err
	}
	if err := other.Close(); err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := serve(ctx, c, "mirrored", other.Name()); err != nil {
		return 0, err
	}
	var took time.Duration
	err = cluster.Poll(ctx, func(ctx context.Context) error {
		text, err := w.Metrics(ctx)
		if err != nil {
			return err
		}
		now := time.Now()
		ages := series(text, fmt.Sprintf("olmgate_catalog_content_age_seconds{catalog=%q}", revised))
		if len(ages) != 1 || now.Add(-seconds(ages[0])).Before(begun) {
			return errors.New("the new content is not there yet")
		}
		inPlace := now.Add(-seconds(ages[0]))
		n := 0
		for _, at := range series(text, "olmgate_extension_last_evaluation_timestamp_seconds{") {
			if t := time.UnixMilli(int64(at * 1000)); t.After(inPlace.Add(-5 * time.Millisecond)) { // as precise as both are told
				n++
				took = max(took, t.Sub(inPlace))
			}
		}
		if n < writerExtensions {
			return fmt.Errorf("%d were evaluated", n)
		}
		return nil
	})
	return took, err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// series are the values of those series whose names begin with a text.
func series(text, prefix string) []float64 {
	var values []float64
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		_, value, _ := strings.Cut(line, "} ")
		var v float64
		if _, err := fmt.Sscan(value, &v); err == nil {
			values = append(values, v)
		}
	}
	return values
}
