package webhook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
)

func TestADenialIsConfirmedWithAFreshList(t *testing.T) {
	for name, tc := range map[string]struct {
		fresh   func(*world)
		denied  bool
		warning string
	}{
		"that says the same": {func(*world) {}, true, ""},
		"where a priority was raised": {func(w *world) {
			w.fresh.items = slices.Clone(w.fresh.items)
			w.fresh.items[1].Spec.Priority = 5
		}, false, ""},
		"with a catalog that is not known yet": {func(w *world) {
			known := w.fresh.items
			w.cached.items, w.fresh.items = known[:0], known[:1]
			w.content = nil
			policy(map[string]string{"NoCatalogsSelected": "Deny"})(&w.options)
		}, false, "olmgate: CatalogContentUnavailable: "},
		"that fails": {func(w *world) { w.fresh.err = errors.New("connection refused") }, false,
			"olmgate: AmbiguousCatalogs: not denied because the current ClusterCatalogs could not be listed to confirm it: "},
		"that takes too long": {func(w *world) { w.fresh.hang = true }, false, "could not be listed to confirm it"},
	} {
		t.Run(name, func(t *testing.T) {
			c := loadCase(t, tie)
			w := worldOf(t, c)
			tc.fresh(w)
			r := w.review(t, c.ClusterExtension())
			if r.Allowed == tc.denied || !hasWarning(r, tc.warning) && tc.warning != "" {
				t.Errorf("allowed: %v, %q", r.Allowed, r.Warnings)
			}
			if n := w.fresh.lists.Load(); n != 1 {
				t.Errorf("%d fresh lists", n)
			}
		})
	}
}

func TestAnAllowNeedsNoFreshList(t *testing.T) {
	c := loadCase(t, "select-by-name")
	w := worldOf(t, c)
	if r := w.review(t, c.ClusterExtension()); !r.Allowed || w.fresh.lists.Load() != 0 {
		t.Errorf("allowed: %v, fresh lists: %d", r.Allowed, w.fresh.lists.Load())
	}
}

// TestAFreshListBeganAfterItWasAskedFor has many callers at once, each of which must see what was written before it
// asked, with far fewer lists than callers.
func TestAFreshListBeganAfterItWasAskedFor(t *testing.T) {
	var written, lists, underWay atomic.Int32
	first, release := make(chan struct{}), make(chan struct{})
	f := &freshLists{timeout: time.Minute, list: func(context.Context) ([]ocv1.ClusterCatalog, error) {
		if underWay.Add(1) > 1 {
			t.Error("two lists at once")
		}
		defer underWay.Add(-1)
		items := make([]ocv1.ClusterCatalog, written.Load())
		if lists.Add(1) == 1 {
			close(first)
			<-release
		}
		return items, nil
	}}
	var wg sync.WaitGroup
	ask := func() {
		want := int(written.Add(1))
		l := f.join()
		wg.Go(func() {
			<-l.done
			if len(l.catalogs) < want {
				t.Errorf("the list has %d, %d were written before it was asked for", len(l.catalogs), want)
			}
		})
	}
	ask()
	<-first
	for range 50 {
		ask()
	}
	close(release)
	wg.Wait()
	if n := lists.Load(); n != 2 {
		t.Errorf("%d lists", n)
	}
}

func TestAPanicOfAListIsAnError(t *testing.T) {
	f := &freshLists{timeout: time.Minute, list: func(context.Context) ([]ocv1.ClusterCatalog, error) { panic("boom") }}
	for range 2 {
		if _, err := f.get(t.Context()); err == nil || !strings.Contains(err.Error(), "boom") {
			t.Errorf("error: %v", err)
		}
	}
}
