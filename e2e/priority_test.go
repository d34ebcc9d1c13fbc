package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/olmgate/olmgate/e2e/cluster"
)

// Of two catalogs that tie, one is given a higher priority and the extension is applied at once. A webhook that has not
// heard of it yet would find the tie.
func TestPriorityRaisedAndExtensionAppliedAtOnceIsNeverDenied(t *testing.T) {
	w := gated(t)
	var names []string
	refs := make([]string, racers)
	ctx := w.ctx()
	for racer := range racers {
		content := operator(fmt.Sprintf("tie-%d", racer), "1.0.0")
		var err error
		if refs[racer], err = w.PushCatalog(ctx, fmt.Sprintf("tie-%d", racer), content); err != nil {
			t.Fatal(err)
		}
		for side := range 2 {
			names = append(names, tieCatalog(racer, side))
			if err := w.ApplyCatalog(ctx, tieCatalog(racer, side), refs[racer], 0, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.inState("current", names...)

	var y tally
	calls := make([]*caller, racers)
	for i := range calls {
		calls[i] = w.caller()
	}
	race(func(racer, i int) {
		pkg, name, c := fmt.Sprintf("tie-%d", racer), fmt.Sprintf("tie-%d-%d", racer, i), calls[racer]
		if err := c.ties(ctx, extensionObject(name+"-check", pkg)); err != nil {
			y.fault(fmt.Errorf("the tie before round %d is not seen: %w", i, err))
		}
		c.warned()
		w.raise(ctx, &y, c, i%everyTenth == 0, tieCatalog(racer, i%2), refs[racer], i+1, extensionObject(name, pkg))
		err := errors.Join(c.priority(ctx, tieCatalog(racer, 1-i%2), i+1), c.delete(ctx, "ClusterExtension", name))
		if err != nil {
			y.fault(err)
		}
	})
	y.report(t)
}

func tieCatalog(racer, side int) string { return fmt.Sprintf("tie-%d-%c", racer, 'a'+side) }

// raise gives a catalog a priority and applies an extension at once.
func (w *world) raise(ctx context.Context, y *tally, c *caller, byKubectl bool, catalog, ref string, priority int, extension object) {
	if byKubectl {
		manifest := strings.Replace(clusterCatalog(catalog, ref), "spec:\n", fmt.Sprintf("spec:\n  priority: %d\n", priority), 1)
		a := w.apply(documents(manifest, manifestOf(extension)))
		y.count(true, a.warnings(), a.denial())
		return
	}
	if err := c.priority(ctx, catalog, priority); err != nil {
		y.fault(err)
	}
	_, err := c.create(ctx, extension)
	y.count(false, c.warned(), err)
}

func (c *caller) priority(ctx context.Context, catalog string, priority int) error {
	return c.patch(ctx, "ClusterCatalog", catalog, fmt.Sprintf(`{"spec":{"priority":%d}}`, priority))
}

// ties waits until an extension is denied because of a tie.
func (c *caller) ties(ctx context.Context, o object) error {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	return cluster.Poll(ctx, func(ctx context.Context) error {
		switch err := c.try(ctx, o); {
		case err == nil:
			return fmt.Errorf("want AmbiguousCatalogs, but it is admitted with warnings %q", c.warned())
		case apierrors.ReasonForError(err) != "AmbiguousCatalogs":
			return fmt.Errorf("want AmbiguousCatalogs: %w", err)
		}
		return nil
	})
}
