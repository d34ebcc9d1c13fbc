package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// crdDir has OLM's CRDs for tests with an API server, as KUBEBUILDER_ASSETS has its binaries.
const crdDir = "OLMGATE_CRDS"

// TestOnAnAPIServer follows ClusterCatalogs with a manager that is not the leader: one that was there before, an
// upgrade, and one that is deleted and created again. It needs the binaries of an API server.
func TestOnAnAPIServer(t *testing.T) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" || os.Getenv(crdDir) == "" {
		t.Skip("KUBEBUILDER_ASSETS and " + crdDir + " name no kube-apiserver and CRDs")
	}
	ctrl.SetLogger(logr.Discard())
	cluster := &envtest.Environment{CRDDirectoryPaths: []string{os.Getenv(crdDir)}, ErrorIfCRDPathMissing: true}
	config, err := cluster.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	}()
	scheme := runtime.NewScheme()
	if err := ocv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	api, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	create := func() *ocv1.ClusterCatalog {
		cc := &ocv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		cc.Spec.Source = ocv1.CatalogSource{Type: ocv1.SourceTypeImage, Image: &ocv1.ImageSource{Ref: "example.com/x/c:latest"}}
		if err := api.Create(ctx, cc); err != nil {
			t.Fatal(err)
		}
		return cc
	}
	publish := func(cc *ocv1.ClusterCatalog, ref string) {
		serves(ref)(cc)
		cc.Status.ResolvedSource.Type = ocv1.SourceTypeImage
		cc.Status.Conditions[0].LastTransitionTime = metav1.Now()
		if err := api.Status().Update(ctx, cc); err != nil {
			t.Fatal(err)
		}
	}
	digest := func(n int) string { return fmt.Sprintf("example.com/x/c@sha256:%064d", n) }
	cc := create()
	publish(cc, digest(1))

	packages := map[string]string{digest(1): "first", digest(2): "second", digest(3): "third"}
	s := New(Options{CacheDir: filepath.Join(t.TempDir(), "cache"), Fetcher: fetchFunc(func(cc *ocv1.ClusterCatalog) answer {
		return answer{index: index(t, packages[RefOf(cc)])}
	})})
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
		// Never the leader: somebody else would have to let go of the lease first.
		LeaderElection: true, LeaderElectionID: "olmgate", LeaderElectionNamespace: "absent",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	select {
	case <-s.Settled():
	case <-time.After(30 * time.Second):
		t.Fatal("not settled")
	}
	holds := func(pkg string) {
		t.Helper()
		await(t, func() error {
			got := s.Content(cc)
			if got.Index == nil || got.Outdated || got.Index.Package(pkg) == nil {
				return fmt.Errorf("got %+v, want package %s", got, pkg)
			}
			return nil
		})
	}
	holds("first")
	publish(cc, digest(2))
	holds("second")
	if err := api.Delete(ctx, cc); err != nil {
		t.Fatal(err)
	}
	old := cc
	cc = create()
	if got := s.Content(cc); got.Index != nil {
		t.Error("a new catalog has the content of the deleted one")
	}
	publish(cc, digest(3))
	holds("third")
	if got := s.Content(old); got.Index != nil {
		t.Error("the deleted catalog has the content of the new one")
	}
	if err := api.Delete(ctx, cc); err != nil {
		t.Fatal(err)
	}
	await(t, func() error {
		if len(s.States()) > 0 || len(files(t, s.disk.dir)) > 0 {
			return errors.New("a deleted catalog is still there")
		}
		return nil
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
