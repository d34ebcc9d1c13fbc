package node_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/node"
)

// outage is for how many seconds requests may fail when a Pod is gone without notice: so long the kubelet, the endpoint
// controller and kube-proxy take together to send nobody there any more.
const outage = 5

func TestOlmgateOnANode(t *testing.T) {
	w := newWorld(t)
	w.in("installed, its Pods deny", (*world).install)
	w.in("no right that it does not need", (*world).confined)
	w.in("no request fails in a rolling restart", (*world).rollingRestart)
	w.in("few requests fail when a process is killed", (*world).killedProcess)
	w.in("few requests fail when a Pod is gone at once", (*world).deletedPod)
	w.in("the doctor finds nothing", (*world).doctor)
	w.in("uninstalled, nothing is left", (*world).uninstall)
}

func (w *world) install() {
	if err := w.node.AddImage(w.ctx(), node.OlmgateImage, w.binary()); err != nil {
		w.Fatal(err)
	}
	w.apply()
	w.inside("rollout", "status", "deployment/olmgate", "--timeout=150s")
	w.ready()
	w.eventually(func() error { return w.denied() })
	// A request without an answer has failed, instead of going through.
	w.must("patch", "validatingwebhookconfiguration", gate.Configuration, "--type=json",
		`--patch=[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Fail"}]`)
	l := w.load()
	w.pass(l, 5)
	w.judge(l, "at rest", 0)
}

// tied is an extension whose package is in two catalogs.
const tied = `
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: tied}
spec:
  namespace: default
  source: {sourceType: Catalog, catalog: {packageName: argocd-operator}}
`

// denied is nil when an ambiguous extension is.
func (w *world) denied() error {
	_, stderr, err := w.Kubectl(w.ctx(), []byte(tied), "create", "--dry-run=server", "-f", "-")
	if err == nil {
		return errors.New("an ambiguous extension was admitted: " + stderr)
	}
	for _, text := range []string{"(AmbiguousCatalogs)", `"` + gate.WebhookName + `" denied the request`} {
		if !strings.Contains(stderr, text) {
			return err
		}
	}
	return nil
}

// confined looks at the processes from outside of their containers.
func (w *world) confined() {
	for _, pod := range w.ready() {
		root := fmt.Sprintf("/proc/%d", w.pid(pod))
		status, err := os.ReadFile(root + "/status")
		if err != nil {
			w.Fatal(err)
		}
		fields := map[string]string{}
		for line := range strings.Lines(string(status)) {
			name, value, _ := strings.Cut(line, ":")
			fields[name] = strings.Join(strings.Fields(value), " ")
		}
		for name, want := range map[string]string{
			"Uid":        "65532 65532 65532 65532",
			"Gid":        "65532 65532 65532 65532",
			"CapEff":     "0000000000000000",
			"CapBnd":     "0000000000000000",
			"NoNewPrivs": "1",
			"Seccomp":    "2", // a filter is at work
		} {
			if fields[name] != want {
				w.Errorf("Pod %s: %s is %q, want %q", pod.Name, name, fields[name], want)
			}
		}
		// Not even root can write there.
		err = os.WriteFile(root+"/root/written", nil, 0o644)
		if !errors.Is(err, syscall.EROFS) {
			w.Errorf("Pod %s: writing to its root file system: %v, want it to be read-only", pod.Name, err)
		}
	}
}

func (w *world) rollingRestart() {
	before := w.ready()
	l := w.load()
	w.pass(l, 2)
	w.inside("rollout", "restart", "deployment/olmgate")
	w.inside("rollout", "status", "deployment/olmgate", "--timeout=150s")
	// The old Pods answer on for a while.
	after := w.ready()
	w.pass(l, 2)
	w.judge(l, "rolling restart", 0)
	for _, pod := range after {
		if pod.Name == before[0].Name || pod.Name == before[1].Name {
			w.Errorf("Pod %s was not replaced", pod.Name)
		}
	}
}

// killedProcess kills each of the containers in turn: the API server keeps a connection to one of them.
func (w *world) killedProcess() {
	for _, pod := range w.ready() {
		l := w.load()
		w.pass(l, 2)
		if err := syscall.Kill(w.pid(pod), syscall.SIGKILL); err != nil {
			w.Fatal(err)
		}
		w.eventually(func() error { return w.restarted(pod) })
		w.ready()
		w.pass(l, 2)
		w.judge(l, "process of "+pod.Name+" killed", outage*rate)
	}
}

// restarted is nil once a Pod's container runs again.
func (w *world) restarted(pod corev1.Pod) error {
	pods, err := w.pods()
	if err != nil {
		return err
	}
	for _, now := range pods {
		if now.Name != pod.Name || len(now.Status.ContainerStatuses) == 0 {
			continue
		}
		before := pod.Status.ContainerStatuses[0].RestartCount
		if now.Status.ContainerStatuses[0].RestartCount > before {
			return nil
		}
	}
	return fmt.Errorf("the container of Pod %s was not started again", pod.Name)
}

func (w *world) deletedPod() {
	for _, pod := range w.ready() {
		l := w.load()
		w.pass(l, 2)
		w.inside("delete", "pod", pod.Name, "--grace-period=0", "--force")
		w.ready()
		w.pass(l, 2)
		w.judge(l, "Pod "+pod.Name+" deleted by force", outage*rate)
	}
}

func (w *world) doctor() {
	has, err := hasDoctor()
	if err != nil {
		w.Fatal(err)
	}
	if !has {
		w.Skip("there is no " + doctorComponent)
	}
	w.apply(doctorComponent)
	const jobs = "--selector=app.kubernetes.io/name=olmgate,app.kubernetes.io/component=doctor"
	w.inside("wait", "jobs", jobs, "--for=condition=Complete", "--timeout=150s")
	w.Log(w.inside("logs", jobs, "--tail=-1"))
}

func (w *world) uninstall() {
	// In this order: with Fail no extension can change while the configuration is there and the Pods are not.
	w.must("delete", "validatingwebhookconfiguration", gate.Configuration)
	w.must("delete", "--kustomize="+w.manifests, "--ignore-not-found", "--timeout=150s")
	w.must("wait", "namespace/"+gate.Namespace, "--for=delete", "--timeout=150s")
	kinds := strings.Fields(w.must("api-resources", "--verbs=list", "-o", "name"))
	left := w.must("get", strings.Join(kinds, ","), "--all-namespaces", "--selector=app.kubernetes.io/name=olmgate",
		"--ignore-not-found", "-o", "name")
	if strings.TrimSpace(left) != "" {
		w.Errorf("left behind: %s", left)
	}
	if _, _, err := w.Kubectl(w.ctx(), []byte(tied), "create", "-f", "-"); err != nil {
		w.Errorf("extensions cannot be created after the uninstallation: %v", err)
	}
}
