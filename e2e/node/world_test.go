package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/olmgate/olmgate/e2e"
	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/load"
	"github.com/olmgate/olmgate/e2e/node"
	"github.com/olmgate/olmgate/e2e/suite"
)

// soon bounds what takes Kubernetes a while: a rollout, a certificate, a Secret that reaches a running Pod.
const soon = 3 * time.Minute

// replicas of olmgate's Deployment.
const replicas = 2

// webhookPods select olmgate's Pods.
const webhookPods = "app.kubernetes.io/name=olmgate,app.kubernetes.io/component=webhook"

// world is a cluster with a node on which olmgate is installed.
type world struct {
	*cluster.Cluster
	*testing.T
	node *node.Node
	// manifests is the folder of the kustomization that was applied.
	manifests string
}

// newWorld starts a cluster with a node, cert-manager and catalogs.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Cluster: suite.NewCluster(t, cluster.Options{Nodes: true}), T: t}
	start := time.Now()
	n, err := node.Start(w.ctx(), w.Cluster)
	if err != nil {
		t.Fatalf("starting a node: %v", err)
	}
	t.Cleanup(n.Stop)
	w.node = n
	t.Cleanup(w.describeOnFailure)
	t.Logf("the node is ready after %s", time.Since(start).Round(time.Millisecond))
	if _, err := w.StartCertManager(w.ctx()); err != nil {
		t.Fatalf("starting cert-manager: %v", err)
	}
	for _, name := range []string{"community", "operatorhubio", "a"} {
		content, err := e2e.SampleCatalog(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AddCatalog(w.ctx(), name, content, 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// describeOnFailure shows what became of olmgate's Pods.
func (w *world) describeOnFailure() {
	if !w.Failed() {
		return
	}
	for _, args := range [][]string{
		{"get", "pods,jobs,endpointslices", "-o", "wide"},
		{"get", "events", "--sort-by=.lastTimestamp"},
		{"logs", "--selector=app.kubernetes.io/name=olmgate", "--all-containers", "--prefix", "--tail=30"},
	} {
		out, _, err := w.Kubectl(w.ctx(), nil, append(args, "--namespace="+gate.Namespace)...)
		w.Logf("kubectl %s: error %v\n%s", strings.Join(args, " "), err, out)
	}
}

// ctx bounds one step of a test.
func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	w.Cleanup(cancel)
	return ctx
}

// must runs a kubectl command that has to succeed, and returns what it prints.
func (w *world) must(args ...string) string {
	w.Helper()
	out, _, err := w.Kubectl(w.ctx(), nil, args...)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// inside is must in olmgate's namespace.
func (w *world) inside(args ...string) string {
	w.Helper()
	return w.must(append(args, "--namespace="+gate.Namespace)...)
}

// eventually polls until check returns nil.
func (w *world) eventually(check func() error) {
	w.Helper()
	if err := cluster.Poll(w.ctx(), func(context.Context) error { return check() }); err != nil {
		w.Fatal(err)
	}
}

// apply applies manifests of the project, with nothing changed but the image and that it is never pulled.
func (w *world) apply(components ...string) {
	w.Helper()
	dir, err := w.kustomization(components)
	if err != nil {
		w.Fatal(err)
	}
	// The test may have changed a field of it meanwhile.
	w.must("apply", "--server-side", "--force-conflicts", "--kustomize="+dir)
	w.manifests = dir
}

// pods are the running Pods of olmgate.
func (w *world) pods() ([]corev1.Pod, error) {
	raw, _, err := w.Kubectl(w.ctx(), nil, "get", "pods", "--namespace="+gate.Namespace, "--selector="+webhookPods, "-o", "json")
	if err != nil {
		return nil, err
	}
	var list corev1.PodList
	return list.Items, json.Unmarshal([]byte(raw), &list)
}

// ready waits until there are exactly as many Pods as replicas, and all of them are ready and have every catalog.
func (w *world) ready() []corev1.Pod {
	w.Helper()
	var pods []corev1.Pod
	w.eventually(func() (err error) {
		if pods, err = w.pods(); err != nil {
			return err
		}
		if len(pods) != replicas {
			return fmt.Errorf("%d Pods, want %d", len(pods), replicas)
		}
		for _, pod := range pods {
			if err := w.current(pod); err != nil {
				return fmt.Errorf("Pod %s: %w", pod.Name, err)
			}
		}
		return nil
	})
	return pods
}

// current says what keeps a Pod from being ready with all catalogs.
func (w *world) current(pod corev1.Pod) error {
	if statuses := pod.Status.ContainerStatuses; len(statuses) != 1 || !statuses[0].Ready {
		return errors.New("is not ready")
	}
	metrics, _, err := w.Kubectl(w.ctx(), nil, "get", "--raw",
		"/api/v1/namespaces/"+pod.Namespace+"/pods/"+pod.Name+":8080/proxy/metrics")
	if err != nil {
		return err
	}
	for _, catalog := range []string{"community", "operatorhubio", "a"} {
		if !strings.Contains(metrics, fmt.Sprintf("olmgate_catalog_state{catalog=%q,state=\"current\"} 1\n", catalog)) {
			return fmt.Errorf("catalog %s is not current", catalog)
		}
	}
	return nil
}

// pid is the process of a Pod's only container.
func (w *world) pid(pod corev1.Pod) int {
	w.Helper()
	pid, err := w.node.PID(w.ctx(), pod.Status.ContainerStatuses[0].ContainerID)
	if err != nil {
		w.Fatal(err)
	}
	return pid
}

// rate of requests a second. Everything runs on one machine: with more of them it is soon the machine that is tested.
const rate = 25

// load sends requests whose answers are known until it is stopped.
func (w *world) load() *load.Load {
	w.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.KubeconfigPath)
	if err != nil {
		w.Fatal(err)
	}
	l, err := load.Start(context.Background(), config, load.Options{
		Rate: rate,
		Cases: []load.Case{
			{Object: load.Extension("fine", "kiln-operator")},
			{Object: load.Extension("tied", "argocd-operator"), Denied: "AmbiguousCatalogs"},
		},
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { l.Stop() })
	return l
}

// pass waits for some more answers.
func (w *world) pass(l *load.Load, seconds int) {
	w.Helper()
	if err := l.Pass(w.ctx(), seconds*rate); err != nil {
		w.Fatal(err)
	}
}

// judge ends a load and compares what happened with what may.
func (w *world) judge(l *load.Load, during string, mayFail int) {
	w.Helper()
	result := l.Stop()
	w.Logf("%s: %s, the slowest took %s", during, result, result.Slowest.Round(time.Millisecond))
	if result.Wrong > 0 || result.Failed > mayFail {
		w.Errorf("%s: %s, at most %d may fail and none be wrong: %s",
			during, result, mayFail, strings.Join(result.FirstFailures, "\n"))
	}
}

// in is a step of a test, after which the test goes on only when it succeeded.
func (w *world) in(name string, step func(w *world)) {
	w.Helper()
	succeeded := w.Run(name, func(t *testing.T) {
		inner := *w
		inner.T = t
		step(&inner)
		w.manifests = inner.manifests
	})
	if !succeeded {
		w.FailNow()
	}
}

// binary is the program that goes into the image.
func (w *world) binary() string {
	w.Helper()
	binary := os.Getenv("OLMGATE_E2E_BINARY")
	if filepath.Base(binary) != "olmgate" {
		w.Fatalf("the program of the image must be called olmgate: %q", binary)
	}
	return binary
}
