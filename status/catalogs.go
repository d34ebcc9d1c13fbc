package status

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmgate/olmgate/catalog/store"
	"github.com/olmgate/olmgate/resolver"
)

// face is a catalog as the resolver sees it, and how long its content may go on being loaded before that is written
// about; 0 when it is not being loaded. Until then content of an earlier revision counts as current.
func (w *Writer) face(cc *ocv1.ClusterCatalog) (resolver.Catalog, time.Duration) {
	content := w.Contents.Content(cc)
	left := w.loadingFor(cc)
	if left > 0 && content.Outdated {
		content.Outdated, content.Problem = false, ""
	}
	return resolver.NewCatalog(cc, content), left
}

// loadingFor is how much of the grace is left for a catalog that is being loaded.
func (w *Writer) loadingFor(cc *ocv1.ClusterCatalog) time.Duration {
	st, known := w.Contents.State(cc.Name)
	// The contents follow catalogs by a watch of their own, which may be behind the cache or ahead of it.
	apart := !known || st.UID != cc.UID || meta.IsStatusConditionTrue(cc.Status.Conditions, ocv1.TypeServing) && st.Wanted != store.RefOf(cc)
	// A first try that fails is usual while catalogd restarts.
	loads := apart || st.Phase == store.Loading || st.Phase == store.Outdated || st.Phase == store.Failed
	loads = loads && cc.DeletionTimestamp == nil && cc.Spec.AvailabilityMode != ocv1.AvailabilityModeUnavailable
	w.mu.Lock()
	defer w.mu.Unlock()
	if !loads {
		delete(w.loading, cc.Name)
		return 0
	}
	since, had := w.loading[cc.Name]
	if !had {
		since = time.Now()
		w.loading[cc.Name] = since
	}
	return max(0, time.Until(since.Add(w.Grace)))
}

// lookAtCatalog has those extensions evaluated again that a change of a catalog can matter to.
func (w *Writer) lookAtCatalog(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cc ocv1.ClusterCatalog
	var now *resolver.Catalog
	var again time.Duration
	switch err := w.cached.Get(ctx, req.NamespacedName, &cc); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("reading ClusterCatalog %q: %w", req.Name, err)
	default:
		var face resolver.Catalog
		face, again = w.face(&cc)
		now = &face
	}
	affected := w.affected(req.Name, now)
	// Before there is a queue, none has been looked at.
	if q := w.extensions.Load(); q != nil {
		for _, name := range affected {
			(*q).Add(request(name))
		}
	}
	return reconcile.Result{RequeueAfter: again}, nil
}

// affected puts a catalog's new face in place, nil when it is gone, and returns the extensions whose verdict may change.
//
// One that resolves depends on the catalogs that its selector meets and on its package in them. The message of one that
// does not may name any catalog.
func (w *Writer) affected(name string, now *resolver.Catalog) []string {
	old, packages := w.replaceFace(name, now)
	change := compareFaces(old, now)
	if !change.any {
		return nil
	}
	change.compare(packages)
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	for ext, st := range w.known {
		switch {
		case st.evaluating: // with the catalog as it was, perhaps
		case st.last == nil || st.last.outcome != resolver.OutcomeResolved || !st.readable:
		case !selects(st, old) && !selects(st, now):
			continue
		case change.contentOnly && change.same[st.pkg]:
			continue
		}
		list = append(list, ext)
	}
	return list
}

// replaceFace puts a face in place, and returns the one before and the packages that extensions ask for.
func (w *Writer) replaceFace(name string, now *resolver.Catalog) (*resolver.Catalog, map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.faces[name]
	if now == nil {
		delete(w.faces, name)
		delete(w.loading, name)
	} else {
		w.faces[name] = now
	}
	packages := map[string]bool{}
	for _, st := range w.known {
		packages[st.pkg] = true
	}
	return old, packages
}

func selects(st *extension, c *resolver.Catalog) bool { return c != nil && st.selector.Selects(c) }

// change is how two faces of a catalog differ.
type change struct {
	any bool
	// contentOnly is whether both have content, and differ in nothing else.
	contentOnly bool
	old, now    *resolver.Catalog
	// same are the packages that both hold alike, when only the content differs.
	same map[string]bool
}

func compareFaces(old, now *resolver.Catalog) *change {
	c := &change{old: old, now: now}
	if old == nil || now == nil {
		c.any = old != now
		return c
	}
	rest := old.Priority == now.Priority && old.Unavailable == now.Unavailable && old.Deleting == now.Deleting &&
		old.Serving == now.Serving && maps.Equal(old.Labels, now.Labels) &&
		old.Content.Outdated == now.Content.Outdated && old.Content.Problem == now.Content.Problem
	c.any = !rest || old.Content.Index != now.Content.Index
	c.contentOnly = rest && old.Content.Index != nil && now.Content.Index != nil
	return c
}

// compare finds out which packages differ.
func (c *change) compare(packages map[string]bool) {
	if !c.contentOnly {
		return
	}
	c.same = map[string]bool{}
	for name := range packages {
		c.same[name] = reflect.DeepEqual(c.old.Content.Index.Package(name), c.now.Content.Index.Package(name))
	}
}
