package status

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/olmgate/olmgate/resolver"
)

// writersAtATime bounds the writes under way, so that a slow API server does not slow the pace down more than it must.
const writersAtATime = 4

// Writer keeps the conditions of all ClusterExtensions as the resolver has them. It serves one manager, and works while
// that is the leader.
type Writer struct {
	Options
	informers cache.Informers
	cached    client.Reader
	status    client.SubResourceWriter
	recorder  events.EventRecorder
	pace      *rate.Limiter
	writes    *writes
	started   time.Time
	// extensions is the queue of those to look at, once the manager works. It is a set, so a storm of events is one look.
	extensions atomic.Pointer[queue]

	mu    sync.Mutex
	known map[string]*extension
	// faces are the catalogs as they were last looked at, with what was at hand of their content.
	faces map[string]*resolver.Catalog
	// loading is since when the content of a catalog is being loaded.
	loading map[string]time.Time
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}

// NewWriter checks the options and fills in their defaults.
func NewWriter(o Options) (*Writer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Writer{
		Options: o,
		pace:    rate.NewLimiter(rate.Limit(o.WritesPerSecond), 1),
		writes:  newWrites(),
		started: time.Now(),
		known:   map[string]*extension{},
		faces:   map[string]*resolver.Catalog{},
		loading: map[string]time.Time{},
	}, nil
}

// +kubebuilder:rbac:groups=olm.operatorframework.io,resources=clusterextensions;clustercatalogs,verbs=get;list;watch
// +kubebuilder:rbac:groups=olm.operatorframework.io,resources=clusterextensions/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager makes the Writer work while the manager is the leader. The manager's cache should be made with
// CacheOptions.
func (w *Writer) SetupWithManager(mgr ctrl.Manager) error {
	w.informers = mgr.GetCache()
	w.cached, w.status, w.recorder = mgr.GetClient(), mgr.GetClient().Status(), mgr.GetEventRecorder("olmgate-status-writer")
	// Several managers may follow each other in one process, so names are not checked to be new.
	options := controller.Options{SkipNameValidation: ptr.To(true), MaxConcurrentReconciles: w.Workers}
	extensions := source.Func(func(_ context.Context, q queue) error {
		w.extensions.Store(&q)
		return nil
	})
	contents := source.Func(func(ctx context.Context, q queue) error {
		stop := w.Contents.Watch(func(name string) { q.Add(request(name)) })
		context.AfterFunc(ctx, stop)
		return nil
	})
	err := ctrl.NewControllerManagedBy(mgr).
		Named("status-extensions").
		For(&ocv1.ClusterExtension{}).
		WatchesRawSource(extensions).
		WithOptions(options).
		Complete(reconcile.Func(w.lookAtExtension))
	if err != nil {
		return fmt.Errorf("setting up the watch of ClusterExtensions: %w", err)
	}
	options.MaxConcurrentReconciles = 1
	err = ctrl.NewControllerManagedBy(mgr).
		Named("status-catalogs").
		For(&ocv1.ClusterCatalog{}).
		WatchesRawSource(contents).
		WithOptions(options).
		Complete(reconcile.Func(w.lookAtCatalog))
	if err != nil {
		return fmt.Errorf("setting up the watch of ClusterCatalogs: %w", err)
	}
	if err := mgr.Add(manager.RunnableFunc(w.run)); err != nil {
		return fmt.Errorf("adding the status writer to the manager: %w", err)
	}
	return nil
}

// run writes what is queued until the context ends.
func (w *Writer) run(ctx context.Context) error {
	// Before the extensions are known, that there are none would be wrong.
	if _, err := w.informers.GetInformer(ctx, &ocv1.ClusterExtension{}); err != nil {
		return fmt.Errorf("listing ClusterExtensions: %w", err)
	}
	w.Metrics.serve(w)
	defer w.Metrics.stop(w)
	var group sync.WaitGroup
	for range writersAtATime {
		group.Go(func() {
			for w.pace.Wait(ctx) == nil {
				name, j, ok := w.writes.next(ctx)
				if !ok {
					return
				}
				w.write(ctx, name, j)
				w.writes.done(name)
			}
		})
	}
	group.Wait()
	return nil
}

// settled waits for the catalogs after the start, so that nothing is written about content that is about to come.
func (w *Writer) settled(ctx context.Context) error {
	left := time.Until(w.started.Add(w.SettleLimit))
	select {
	case <-w.Contents.Settled():
		return nil
	default:
	}
	timer := time.NewTimer(max(0, left))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.Contents.Settled():
	case <-timer.C:
	}
	return nil
}

// lookAtExtension evaluates one extension and queues a write when its conditions have to change.
func (w *Writer) lookAtExtension(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if err := w.settled(ctx); err != nil {
		return reconcile.Result{}, err
	}
	var ext ocv1.ClusterExtension
	switch err := w.cached.Get(ctx, req.NamespacedName, &ext); {
	case apierrors.IsNotFound(err):
		w.forget(req.Name)
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("reading ClusterExtension %q: %w", req.Name, err)
	}
	if ext.DeletionTimestamp != nil {
		w.forget(req.Name)
		return reconcile.Result{}, nil
	}
	again, err := w.evaluate(ctx, &ext)
	return reconcile.Result{RequeueAfter: again}, err
}

// forget drops all that is known of an extension.
func (w *Writer) forget(name string) {
	w.mu.Lock()
	delete(w.known, name)
	w.mu.Unlock()
	w.writes.drop(name)
}

// evaluate resolves an extension and compares what follows with the conditions it has. It returns after how long to
// look again, 0 for not before something happens.
func (w *Writer) evaluate(ctx context.Context, ext *ocv1.ClusterExtension) (time.Duration, error) {
	st := w.track(ext)
	have := w.current(st, ext)
	want := desired{}
	if resolver.Judges(ext) {
		begun := time.Now()
		v, loading, err := w.resolve(ctx, ext)
		if err != nil {
			return 0, err
		}
		w.Metrics.evaluated(time.Since(begun))
		if left := w.holdBack(st, v, loading, &have, ext.Generation); left > 0 {
			return left, nil
		}
		w.remember(st, v)
		want = w.desired(v, &have, ext.Generation)
		w.tellOwners(ext, st, &have)
	} else {
		w.remember(st, nil)
	}
	want.leave(&have)
	if want.fulfilled(&have) {
		w.writes.drop(ext.Name)
		return 0, nil
	}
	want.setTimes(have.before)
	j := &job{ext: ext, desired: want, before: have.before, made: time.Now(), due: w.due(st, &want, &have)}
	j.bad = turnsBad(j.before, j.conditions)
	w.writes.put(ext.Name, j)
	return 0, nil
}

// resolve is the verdict with the catalogs as the cache has them, and whether content of one is being loaded.
func (w *Writer) resolve(ctx context.Context, ext *ocv1.ClusterExtension) (*resolver.Verdict, bool, error) {
	var list ocv1.ClusterCatalogList
	if err := w.cached.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, false, fmt.Errorf("listing ClusterCatalogs: %w", err)
	}
	catalogs := make([]resolver.Catalog, len(list.Items))
	loading := false
	for i := range list.Items {
		var left time.Duration
		catalogs[i], left = w.face(&list.Items[i])
		loading = loading || left > 0
	}
	v := resolver.Outlook(ext, catalogs, w.Rule)
	return &v, loading, nil
}
