package store

import (
	"context"
	"fmt"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// +kubebuilder:rbac:groups=olm.operatorframework.io,resources=clustercatalogs,verbs=get;list;watch

// SetupWithManager makes the Store follow the manager's ClusterCatalogs, on every replica: each answers reviews, so
// each needs the content. The scheme must know operator-controller's API. The Store ends with the manager.
func (s *Store) SetupWithManager(mgr ctrl.Manager) error {
	if s.opts.Latest == nil {
		s.opts.Latest = latestFrom(mgr.GetAPIReader())
	}
	everywhere := false
	err := ctrl.NewControllerManagedBy(mgr).
		Named("catalog-content").
		For(&ocv1.ClusterCatalog{}).
		WithOptions(controller.Options{NeedLeaderElection: &everywhere}).
		Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
			return ctrl.Result{}, s.follow(ctx, mgr.GetClient(), req.Name)
		}))
	if err != nil {
		return fmt.Errorf("setting up the watch of ClusterCatalogs: %w", err)
	}
	if err := mgr.Add(&lifetime{s, mgr.GetClient()}); err != nil {
		return fmt.Errorf("adding the store of catalogs to the manager: %w", err)
	}
	return nil
}

func latestFrom(r client.Reader) func(context.Context, string) (*ocv1.ClusterCatalog, error) {
	return func(ctx context.Context, name string) (*ocv1.ClusterCatalog, error) {
		var cc ocv1.ClusterCatalog
		if err := r.Get(ctx, client.ObjectKey{Name: name}, &cc); err != nil {
			return nil, err
		}
		return &cc, nil
	}
}

// follow takes in one ClusterCatalog as the cache has it.
func (s *Store) follow(ctx context.Context, cached client.Reader, name string) error {
	cc, err := latestFrom(cached)(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		s.drop(name)
	case err != nil:
		return fmt.Errorf("reading ClusterCatalog %q: %w", name, err)
	default:
		s.observe(cc)
	}
	return nil
}

// lifetime ties a Store to a manager: the first list, and the end.
type lifetime struct {
	store  *Store
	cached client.Reader
}

var (
	_ manager.Runnable               = (*lifetime)(nil)
	_ manager.LeaderElectionRunnable = (*lifetime)(nil)
)

// NeedLeaderElection is false: see SetupWithManager.
func (l *lifetime) NeedLeaderElection() bool { return false }

// Start lists the ClusterCatalogs, which waits for the cache, and then waits for the end.
func (l *lifetime) Start(ctx context.Context) error {
	defer l.store.Close()
	var list ocv1.ClusterCatalogList
	if err := l.cached.List(ctx, &list); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("listing ClusterCatalogs: %w", err)
	}
	for i := range list.Items {
		l.store.observe(&list.Items[i])
	}
	l.store.listed()
	<-ctx.Done()
	return nil
}
