package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/load"
)

const (
	secondReplica = "10.200.0.11"
	// leastReviews is how many reviews there are at least.
	leastReviews = 100
)

// replicas starts a second olmgate behind the Service, and requests that need an answer: failurePolicy is Fail, so that
// a review without an answer is a failed request.
func (w *world) replicas() (second *gate.Gate, l *load.Load) {
	w.Helper()
	w.sample(0, "community", "operatorhubio", "a")
	second, err := gate.Start(w.ctx(), w.Cluster, gate.Options{Name: "olmgate-2", IP: secondReplica, Beside: true})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		second.Stop()
		w.start(gate.Options{})
	})
	w.failurePolicy("Fail")
	w.Cleanup(func() { w.failurePolicy("Ignore") })
	w.expose(cluster.WebhookAddress, secondReplica)
	config, err := clientcmd.BuildConfigFromFlags("", w.KubeconfigPath)
	if err != nil {
		w.Fatal(err)
	}
	l, err = load.Start(w.ctx(), config, load.Options{Cases: []load.Case{
		{Object: load.Extension("fine", "kiln-operator")},
		{Object: load.Extension("tied", "argocd-operator"), Denied: "AmbiguousCatalogs"},
	}})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { l.Stop() })
	return second, l
}

func (w *world) expose(addresses ...string) {
	w.Helper()
	if err := gate.Expose(w.ctx(), w.Cluster, addresses...); err != nil {
		w.Fatal(err)
	}
}

func (w *world) pass(l *load.Load, requests int) {
	w.Helper()
	if err := l.Pass(w.ctx(), requests); err != nil {
		w.Fatal(err)
	}
}

func TestReviewsUnderWayAreAnsweredWhenAReplicaStops(t *testing.T) {
	w := gated(t)
	first := w.gate
	second, l := w.replicas()
	w.pass(l, leastReviews/3)
	// As when a pod is deleted: its endpoint goes, a preStop hook waits for that to be known, then comes the signal.
	w.expose(secondReplica)
	w.pass(l, leastReviews/3)
	if !first.Stop() {
		t.Error("the replica did not end by itself")
	}
	w.pass(l, leastReviews/3)
	result := l.Stop()

	t.Logf("one of two replicas stopped by SIGTERM: %s", result)
	if result.Failed+result.Wrong > 0 {
		t.Errorf("%s, for example: %s", result, strings.Join(result.FirstFailures, "\n"))
	}
	metrics, err := w.metrics(second)
	if err != nil || !strings.Contains(metrics, `olmgate_admission_reviews_total{decision="deny",outcome="Failed",reason="AmbiguousCatalogs"}`) {
		t.Errorf("the second replica did not take over (%v): %q", err, grep(metrics, "olmgate_admission_reviews_total"))
	}
	// The audit log knows whether each one was judged, even if the policy Fail had not reached the API server yet.
	w.eventually(func() error {
		judged := 0
		for _, name := range []string{"fine", "tied"} {
			for _, e := range w.audit(name) {
				if len(e.ofOlmgate()) > 0 {
					judged++
				}
			}
		}
		if judged != result.Requests {
			return fmt.Errorf("%d of %d requests were judged", judged, result.Requests)
		}
		return nil
	})
}

// A replica that dies without a word leaves its endpoint behind until somebody notices. What is sent there fails, by
// failurePolicy; nothing is answered wrongly, and it ends with the endpoint.
func TestAKilledReplicaAnswersNothingWrongly(t *testing.T) {
	w := gated(t)
	first := w.gate
	_, l := w.replicas()
	w.pass(l, leastReviews/2)
	killed := time.Now()
	first.Process.Kill()
	w.expose(secondReplica) // as the kubelet's word does, some seconds later
	gone := time.Since(killed)
	w.pass(l, leastReviews/2)
	atRest := l.Result()
	w.pass(l, leastReviews)
	result := l.Stop()

	t.Logf("one of two replicas killed, its endpoint gone after %s: %s", gone.Round(time.Millisecond), result)
	if result.Wrong > 0 {
		t.Errorf("%s, for example: %s", result, strings.Join(result.FirstFailures, "\n"))
	}
	// At 50 requests a second: all that were sent until the endpoint was gone, and a second more for the API server to
	// learn of that.
	if most := int(50 * (gone + time.Second).Seconds()); result.Failed > most {
		t.Errorf("%d requests failed, want %d at most", result.Failed, most)
	}
	if result.Failed > atRest.Failed {
		t.Errorf("requests went on failing: %d, then %d", atRest.Failed, result.Failed)
	}
}

func (w *world) failurePolicy(policy string) {
	w.Helper()
	a := w.kubectl("patch", "validatingwebhookconfiguration", gate.Configuration, "--type=json",
		`--patch=[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"`+policy+`"}]`)
	if a.failed {
		w.Errorf("setting failurePolicy: %s", a.text())
	}
}
