package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/suite"
)

// absent are the kinds of the Prometheus Operator, whose CRDs this cluster does not have.
var absent = []string{"kind: ServiceMonitor", "kind: PrometheusRule"}

// TestTheAPIServerAcceptsTheManifests applies each overlay and combination of components, without storing anything: the
// API server checks more than a schema says, CEL for one. They are the golden files that the tests of the manifests keep.
func TestTheAPIServerAcceptsTheManifests(t *testing.T) {
	w := &world{Cluster: suite.Cluster(t), T: t}
	root := manifestsFolder(t)
	for _, pattern := range []string{"testdata/*.yaml", "charttest/testdata/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) < 5 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, file := range files {
			t.Run(filepath.Base(filepath.Dir(filepath.Dir(file)))+"/"+filepath.Base(file), func(t *testing.T) {
				w.T = t
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				w.accepts(string(text))
			})
		}
	}
	w.T = t
}

// TestKubectlAppliesTheOverlays is what a user does.
func TestKubectlAppliesTheOverlays(t *testing.T) {
	w := &world{Cluster: suite.Cluster(t), T: t}
	w.namespace("olmgate-system")
	overlays, err := filepath.Glob(filepath.Join(manifestsFolder(t), "overlays", "*", "kustomization.yaml"))
	if err != nil || len(overlays) < 4 {
		t.Fatalf("%d overlays, %v", len(overlays), err)
	}
	for _, overlay := range overlays {
		t.Run(filepath.Base(filepath.Dir(overlay)), func(t *testing.T) {
			w.T = t
			if a := w.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-k", filepath.Dir(overlay)); a.failed {
				t.Error(a.text())
			}
		})
	}
	w.T = t
}

func manifestsFolder(t *testing.T) string {
	t.Helper()
	overlay, err := gate.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(overlay, "..", "..")
}

// accepts applies a manifest in a dry run. Warnings count too: they are for fields that are deprecated or pods that are
// not restricted.
func (w *world) accepts(text string) {
	w.Helper()
	var documents []string
	left := 0
	for _, doc := range strings.Split(text, "\n---\n") {
		if containsAny(doc, absent) {
			left++
			continue
		}
		documents = append(documents, doc)
	}
	if left > 0 {
		w.Logf("%d objects of the Prometheus Operator were left out: its CRDs are not here", left)
	}
	w.namespace("olmgate-system")
	w.namespace("gatekeepers")
	a := w.kubectlWith(strings.Join(documents, "\n---\n"), "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-")
	if a.failed || strings.Contains(a.errs, "Warning") {
		w.Error(a.text())
	}
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// namespace makes a namespace that dry runs find. It enforces what olmgate's own does. It stays: there is no controller
// that would end it.
func (w *world) namespace(name string) {
	w.Helper()
	if a := w.kubectlWith(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "`+name+`", "labels": {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted"}}}`,
		"apply", "--server-side", "--force-conflicts", "-f", "-"); a.failed {
		w.Fatal(a.text())
	}
}

// TestTheAPIServerCountsWhatTheAlertsAskFor looks for the API server's own metrics, by the names and labels that the
// alerts of the component prometheus use.
func TestTheAPIServerCountsWhatTheAlertsAskFor(t *testing.T) {
	w := gated(t)
	bad := withCatalog("x", "selector: {matchExpressions: [{key: a, operator: Equals}]}")
	w.try(bad).denied("InvalidSelector")
	w.counted(`apiserver_admission_webhook_admission_duration_seconds_bucket{name="clusterextensions.olmgate.dev",`, `le="2.5"`)
	w.counted(`apiserver_admission_webhook_rejection_count{error_type="no_error",name="clusterextensions.olmgate.dev",`, `rejection_code="403"`)

	w.stop()
	t.Cleanup(func() { w.start(gate.Options{}) })
	w.try(bad).admitted()
	w.counted(`apiserver_admission_webhook_fail_open_count{name="clusterextensions.olmgate.dev",`, "")
	setFailurePolicy(w, "Fail")
	t.Cleanup(func() { setFailurePolicy(w, "Ignore") })
	w.eventually(func() error {
		if a := w.try(bad); !a.failed {
			return errors.New("admitted: " + a.text())
		}
		return nil
	})
	w.counted(`apiserver_admission_webhook_rejection_count{error_type="calling_webhook_error",name="clusterextensions.olmgate.dev",`, "")
}

func setFailurePolicy(w *world, policy string) {
	w.Helper()
	kubectl(w.ctx(), w.T, w.Cluster, "patch", "validatingwebhookconfiguration", gate.Configuration, "--type=json",
		"-p", `[{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "`+policy+`"}]`)
}

// counted expects a metric of the API server's that begins and goes on with a text, and is not zero.
func (w *world) counted(begin, part string) {
	w.Helper()
	metrics := kubectl(w.ctx(), w.T, w.Cluster, "get", "--raw", "/metrics")
	for _, line := range grep(metrics, begin) {
		if strings.Contains(line, part) && !strings.HasSuffix(line, " 0") {
			return
		}
	}
	w.Errorf("the API server has no metric %s with %q", begin, part)
}

// TestTheDoctorMayAskWhatItNeeds runs olmgate doctor with the rights of its Job. What is read from pods directly in the
// cluster goes through the API server here, which the Job is not allowed to use.
func TestTheDoctorMayAskWhatItNeeds(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	rights := filepath.Join(manifestsFolder(t), "components", "doctor", "rbac.yaml")
	kubectl(w.ctx(), t, w.Cluster, "apply", "--server-side", "-f", rights)
	t.Cleanup(func() {
		if _, _, err := w.Cluster.Kubectl(w.ctx(), nil, "delete", "-f", rights); err != nil {
			t.Errorf("cleaning up: %v", err)
		}
	})
	kubeconfig, err := w.ServiceAccountKubeconfig(w.ctx(), gate.Namespace, "olmgate-doctor")
	if err != nil {
		t.Fatal(err)
	}
	w.doctor("--kubeconfig="+kubeconfig).
		finds("api-server", "ok").
		finds("olm", "ok").
		finds("catalogs", "ok", "1 ClusterCatalog of 1 serve: a").
		finds("service", "ok", "leads to").
		finds("webhook-configuration", "ok").
		finds("dry-run", "ok", "denied, as mode Enforce has it").
		// There is no kubelet here.
		finds("deployment", "fault", "no replica of Deployment olmgate is ready")
}
