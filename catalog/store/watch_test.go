package store

import (
	"context"
	"errors"
	"testing"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestTheWatch runs the reconciler and the lifetime by hand; a real API server's watch is tried end to end.
func TestTheWatch(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := ocv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := newCluster()
	known := c.set("known", serves(one))
	known.ResourceVersion = ""
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(known).Build()
	s := New(Options{Latest: latestFrom(api), Fetcher: fetchFunc(func(*ocv1.ClusterCatalog) answer { return answer{index: index(t, "x")} })})
	s.free = func() {}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- (&lifetime{s, api}).Start(ctx) }()
	select {
	case <-s.Settled():
	case <-time.After(30 * time.Second):
		t.Fatal("not settled")
	}
	expect(t, s, known, "x", false, "")

	later := c.set("later", serves(one))
	later.ResourceVersion = ""
	if err := api.Create(ctx, later.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	if err := s.follow(ctx, api, "later"); err != nil {
		t.Fatal(err)
	}
	await(t, func() error {
		if got := s.Content(later); got.Index == nil {
			return errors.New(got.Problem)
		}
		return nil
	})
	if err := api.Delete(ctx, known.DeepCopy(), client.Preconditions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.follow(ctx, api, "known"); err != nil {
		t.Fatal(err)
	}
	if got := s.Content(known); got.Index != nil {
		t.Error("a deleted catalog has content")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if (&lifetime{}).NeedLeaderElection() {
		t.Error("only the leader would load catalogs")
	}
}
