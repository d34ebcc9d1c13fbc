package rotation

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/certs"
	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/load"
	"github.com/olmgate/olmgate/webhook"
)

// shifted is the real clock with another time on it, as on a machine that was suspended.
type shifted struct {
	clock.RealClock
	by atomic.Int64
}

func (s *shifted) Now() time.Time                  { return time.Now().Add(time.Duration(s.by.Load())) }
func (s *shifted) Since(t time.Time) time.Duration { return s.Now().Sub(t) }

const day = 24 * time.Hour

// TestClockJump serves in this process with a clock that is 45 days behind and then jumps to the right time: leaf and
// authority are old at one stroke, and the API server has not slept.
func TestClockJump(t *testing.T) {
	w := newWorld(t)
	w.kubectl("apply", "--server-side", "-k", w.overlay("enforce"))
	w.fail()

	now := &shifted{}
	now.by.Store(int64(-45 * day))
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{ocv1.AddToScheme, corev1.AddToScheme, admissionregistrationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	direct, err := client.NewWithWatch(w.kube, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	source := certs.NewSelfManaged(certs.SelfManagedOptions{
		Cluster:           certs.Cluster{Client: direct, Settle: settle, Clock: now, Log: log},
		ServingLifetime:   60 * day,
		AuthorityLifetime: 100 * day,
	})
	mgr, err := ctrl.NewManager(w.kube, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := webhook.NewHandler(webhook.Options{
		Cached: mgr.GetCache(), Fresh: mgr.GetAPIReader(), Log: log,
		Content: func(*ocv1.ClusterCatalog) catalog.Content { return catalog.Content{Problem: "nothing is loaded here"} },
	})
	if err != nil {
		t.Fatal(err)
	}
	server := &webhook.Server{
		Address: net.JoinHostPort(cluster.WebhookAddress, webhookPort), Log: log, GetCertificate: source.GetCertificate,
		Handler: webhook.NewMux(&webhook.Endpoint{Handler: handler, Log: log}),
	}
	for _, r := range []interface{ Start(context.Context) error }{source, server} {
		if err := mgr.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if err := gate.Expose(w.ctx(), w.Cluster, cluster.WebhookAddress); err != nil {
		t.Fatal(err)
	}
	w.eventually(func(context.Context) error { return source.Ready() })
	w.eventually(w.denies)

	before := source.State()
	w.during("the clock jumps by 45 days", func() {
		now.by.Store(0)
		w.eventually(func(context.Context) error {
			if source.State().Changes == before.Changes {
				return errStill
			}
			return nil
		})
	})
	if left := time.Until(source.State().NotAfter); left < 50*day {
		t.Errorf("the leaf after the jump has %s left", left)
	}
}

var errStill = errors.New("a leaf of the old authority is still served")

// denies waits for the first denial: until then the API server's copy of the configuration may be old.
func (w *world) denies(ctx context.Context) error {
	l, err := load.Start(ctx, w.kube, load.Options{Cases: cases()[:1], Rate: 5, Workers: 1})
	if err != nil {
		return err
	}
	if err := l.Pass(ctx, 1); err != nil {
		return err
	}
	if r := l.Stop(); r.Failed+r.Wrong > 0 {
		return errors.New(r.FirstFailures[0])
	}
	return nil
}
