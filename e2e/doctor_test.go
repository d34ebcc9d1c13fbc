package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/olmgate/olmgate/e2e/gate"
)

// finding is one line of olmgate doctor -o json.
type finding struct{ Check, State, Message, Next string }

// examination is what olmgate doctor found.
type examination struct {
	w        *world
	status   int
	findings []finding
	text     string
}

// doctor runs olmgate doctor as the admin of the cluster.
func (w *world) doctor(flags ...string) examination {
	w.Helper()
	binary, err := gate.Build(w.ctx())
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.ctx(), time.Minute)
	defer cancel()
	var errs strings.Builder
	cmd := exec.CommandContext(ctx, binary, append([]string{"doctor", "--kubeconfig=" + w.KubeconfigPath, "-o", "json"}, flags...)...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	e := examination{w: w, status: cmd.ProcessState.ExitCode(), text: string(out)}
	var answer struct{ Findings []finding }
	if jsonErr := json.Unmarshal(out, &answer); jsonErr != nil {
		w.Fatalf("olmgate doctor %s: %v (%v): %s%s", strings.Join(flags, " "), err, jsonErr, out, errs.String())
	}
	e.findings = answer.Findings
	w.Logf("$ olmgate doctor %s\n%s", strings.Join(flags, " "), out)
	return e
}

// finds expects a finding of a check in a state whose message and next step hold the parts.
func (e examination) finds(check, state string, parts ...string) examination {
	e.w.Helper()
next:
	for _, f := range e.findings {
		if f.Check != check || f.State != state {
			continue
		}
		for _, p := range parts {
			if !strings.Contains(f.Message+"\n"+f.Next, p) {
				continue next
			}
		}
		return e
	}
	e.w.Errorf("want %s to be %s with %q: %s", check, state, parts, e.text)
	return e
}

func (e examination) exits(status int) examination {
	e.w.Helper()
	if e.status != status {
		e.w.Errorf("exit status %d, want %d: %s", e.status, status, e.text)
	}
	return e
}

// everyFault has something to do next.
func (e examination) everyFaultHasANextStep() {
	e.w.Helper()
	for _, f := range e.findings {
		if f.State == "fault" && f.Next == "" {
			e.w.Errorf("%s has no next step: %s", f.Check, f.Message)
		}
	}
}

func TestDoctorFindsWhatIsWell(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	e := w.doctor().
		finds("api-server", "ok", "Kubernetes v1.").
		finds("olm", "ok").
		finds("catalogs", "ok", "1 ClusterCatalog of 1 serve: a").
		finds("catalogd", "ok", "serves a").
		finds("service", "ok", "leads to").
		finds("webhook-configuration", "ok", "failurePolicy Ignore").
		finds("ca-bundle", "ok", "valid until").
		finds("dry-run", "ok", "denied, as mode Enforce has it", "the catalog selector cannot be read").
		// There is no kubelet here: a process stands in for the Pods.
		finds("deployment", "fault", "no replica of Deployment olmgate is ready")
	e.everyFaultHasANextStep()
}

func TestDoctorFindsACatalogThatDoesNotServe(t *testing.T) {
	w := gated(t)
	w.apply(`
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: broken}
spec: {source: {type: Image, image: {ref: "10.200.0.9:5000/no/such:latest"}}}
`)
	w.doctor().finds("catalogs", "warning", "broken does not serve", "kubectl describe clustercatalog broken").finds("catalogd", "skipped")
}

func TestDoctorFindsAWipedBundle(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	w.stop() // or it would heal
	t.Cleanup(func() { w.start(gate.Options{}) })
	w.kubectl("patch", "validatingwebhookconfiguration", gate.Configuration, "--type=json",
		`--patch=[{"op":"replace","path":"/webhooks/0/clientConfig/caBundle","value":""}]`)
	w.doctor().exits(1).finds("ca-bundle", "fault", "has no caBundle").finds("dry-run", "fault", "let through without a word", "apiserver_admission_webhook_fail_open_count").everyFaultHasANextStep()
}

func TestDoctorFindsAWebhookThatCannotBeCalled(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	w.kubectl("patch", "validatingwebhookconfiguration", gate.Configuration, "--type=json", `--patch=[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Fail"}]`)
	t.Cleanup(func() {
		w.kubectl("patch", "validatingwebhookconfiguration", gate.Configuration, "--type=json", `--patch=[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]`)
	})
	w.stop()
	t.Cleanup(func() { w.start(gate.Options{}) })
	w.doctor().exits(1).finds("webhook-configuration", "ok", "failurePolicy Fail").
		finds("dry-run", "fault", "cannot call a webhook", "connection refused", "no Pod answers behind the Service").everyFaultHasANextStep()
}

func TestDoctorComparesTheModeThatIsConfigured(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	w.restart("--mode=Warn")
	w.doctor().finds("dry-run", "warning", "the configuration has a denial here, and olmgate warns")
	arguments := func(op, value string) {
		t.Helper()
		w.kubectl("-n", gate.Namespace, "patch", "deployment", "olmgate", "--type=json",
			`--patch=[{"op":"`+op+`","path":"/spec/template/spec/containers/0/args/1"`+value+`}]`).admitted()
	}
	arguments("add", `,"value":"--mode=Warn"`)
	t.Cleanup(func() { arguments("remove", "") })
	w.doctor().finds("dry-run", "ok", "answered with a warning, as mode Warn has it")
}

// An admission policy speaks before olmgate: the dry run must be of something that it lets through.
func TestDoctorGetsPastAnAdmissionPolicy(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	component := filepath.Join(manifestsFolder(t), "components", "admission-policy")
	for _, file := range []string{"policies.yaml", "bindings.yaml"} {
		w.kubectl("apply", "-f", filepath.Join(component, file))
		t.Cleanup(func() { w.kubectl("delete", "-f", filepath.Join(component, file)) })
	}
	w.eventually(func() error {
		_, errs, _ := w.Cluster.Kubectl(w.ctx(), []byte(unreadable), "create", "--dry-run=server", "-f", "-")
		if !strings.Contains(errs, "ValidatingAdmissionPolicy") {
			return errors.New("the policy does not speak yet: " + errs)
		}
		return nil
	})
	w.doctor().finds("dry-run", "ok", "answered by olmgate", "olmgate-doctor-in-no-catalog")
}

var unreadable = extension("unreadable", "packageName: kiln-operator", "selector: {matchExpressions: [{key: a, operator: Foo}]}")

func TestDoctorFindsWhatIsNotThere(t *testing.T) {
	w := gated(t)
	w.doctor("--namespace=elsewhere").exits(1).
		finds("catalogs", "warning", "there is no ClusterCatalog").
		finds("deployment", "fault", "no Deployment olmgate in namespace elsewhere").
		finds("service", "fault", "no Service olmgate-webhook in namespace elsewhere").
		finds("webhook-configuration", "fault", "calls the Service olmgate-system/olmgate-webhook", "namespace elsewhere").everyFaultHasANextStep()

	w.doctor("--server=https://127.0.0.1:1").exits(1).finds("api-server", "fault", "does not answer").everyFaultHasANextStep()
}

// Somebody who may read nothing learns that, and no fault is made of it.
func TestDoctorSkipsWhatItMayNotSee(t *testing.T) {
	w := gated(t)
	e := w.doctor("--as=system:serviceaccount:default:nobody").exits(0)
	for _, check := range []string{"catalogs", "deployment", "service", "webhook-configuration", "dry-run"} {
		e.finds(check, "skipped")
	}
}
