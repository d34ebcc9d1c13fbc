package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
)

const (
	secondReplica = "10.200.0.11"
	// reviewers call at the same time, so that reviews are under way when the replica is told to stop.
	reviewers = 6
	// leastReviews is how many reviews there are at least.
	leastReviews = 100
)

// failurePolicy is Fail here: a review without an answer is a failed request.
func TestReviewsUnderWayAreAnsweredWhenAReplicaStops(t *testing.T) {
	w := gated(t)
	w.sample(0, "community", "operatorhubio", "a")
	first := w.gate
	second, err := gate.Start(w.ctx(), w.Cluster, gate.Options{Name: "olmgate-2", IP: secondReplica, Beside: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		second.Stop()
		w.start(gate.Options{})
	})
	w.failurePolicy("Fail")
	t.Cleanup(func() { w.failurePolicy("Ignore") })
	if err := gate.Expose(w.ctx(), w.Cluster, cluster.WebhookAddress, secondReplica); err != nil {
		t.Fatal(err)
	}

	load := w.load()
	load.pass(leastReviews / 3)
	// As when a pod is deleted: its endpoint goes, a preStop hook waits for that to be known, then comes the signal.
	if err := gate.Expose(w.ctx(), w.Cluster, secondReplica); err != nil {
		t.Fatal(err)
	}
	load.pass(leastReviews / 3)
	if !first.Stop() {
		t.Error("the replica did not end by itself")
	}
	load.pass(leastReviews / 3)
	count, failures := load.end()

	if len(failures) > 0 {
		t.Errorf("%d of %d requests failed, for example: %s", len(failures), count, failures[0])
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
		if judged != count {
			return fmt.Errorf("%d of %d requests were judged", judged, count)
		}
		return nil
	})
	t.Logf("%d requests by %d clients while one of two replicas stopped, %d failed", count, reviewers, len(failures))
}

func (w *world) failurePolicy(policy string) {
	w.Helper()
	a := w.kubectl("patch", "validatingwebhookconfiguration", gate.Configuration, "--type=json",
		`--patch=[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"`+policy+`"}]`)
	if a.failed {
		w.Errorf("setting failurePolicy: %s", a.text())
	}
}

// load is dry-run applies that go on until they are ended.
type load struct {
	w      *world
	stop   context.CancelFunc
	done   sync.WaitGroup
	passed atomic.Int64

	mu       sync.Mutex
	failures []string
}

// load starts applying an extension that is admitted and one that is denied, in turn.
func (w *world) load() *load {
	ctx, stop := context.WithCancel(w.ctx())
	l := &load{w: w, stop: stop}
	for range reviewers {
		calls := w.caller()
		l.done.Go(func() {
			for tied := false; ctx.Err() == nil; tied = !tied {
				l.review(calls, tied)
			}
		})
	}
	return l
}

// review applies one extension. The request is finished even when the load ends, or it would count as failed.
func (l *load) review(calls *caller, tied bool) {
	object := extensionObject("fine", "kiln-operator")
	if tied {
		object = extensionObject("tied", "argocd-operator")
	}
	_, err := calls.of(object).Apply(context.Background(), object.GetName(), object,
		metav1.ApplyOptions{FieldManager: "e2e", DryRun: []string{metav1.DryRunAll}})
	if failure := unexpected(err, tied); failure != "" {
		l.mu.Lock()
		l.failures = append(l.failures, failure)
		l.mu.Unlock()
	}
	l.passed.Add(1)
}

// unexpected says what is wrong with an answer, "" when nothing is.
func unexpected(err error, tied bool) string {
	switch reason := apierrors.ReasonForError(err); {
	case tied && reason != "AmbiguousCatalogs":
		return fmt.Sprintf("want AmbiguousCatalogs, got %v", err)
	case !tied && err != nil:
		return err.Error()
	}
	return ""
}

// pass waits until so many more requests were answered.
func (l *load) pass(n int64) {
	l.w.Helper()
	until := l.passed.Load() + n
	l.w.eventually(func() error {
		if got := l.passed.Load(); got < until {
			return fmt.Errorf("%d requests were answered, want %d", got, until)
		}
		return nil
	})
}

func (l *load) end() (count int, failures []string) {
	l.stop()
	l.done.Wait()
	return int(l.passed.Load()), l.failures
}
