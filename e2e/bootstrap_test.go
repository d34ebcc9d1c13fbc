package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmgate/olmgate/e2e/cluster"
)

// A catalog and the extension that needs it are applied together. Another catalog is loaded, so that a webhook that has
// not heard of the new one yet would find that nobody has the package.
func TestCatalogAndExtensionInOneApplyAreNeverDenied(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	// Two images for each racer, used in turn: the catalog of the round before may still be in somebody's memory.
	refs := map[string]string{}
	for racer := range racers {
		for turn := range 2 {
			var content []byte
			for i := turn; i < rounds/racers; i += 2 {
				content = append(content, operator(fresh(racer, i), "1.0.0")...)
			}
			name := fmt.Sprintf("fresh-%d-turn-%d", racer, turn)
			ref, err := w.PushCatalog(w.ctx(), name, content)
			if err != nil {
				t.Fatal(err)
			}
			refs[fmt.Sprint(racer, turn)] = ref
		}
	}

	var y tally
	calls := make([]*caller, racers)
	for i := range calls {
		calls[i] = w.caller()
	}
	ctx := w.ctx()
	before := w.freshLists()
	race(func(racer, i int) {
		name, c := fresh(racer, i), calls[racer]
		c.warned()
		w.applyBoth(ctx, &y, c, i%everyTenth == 0, name, refs[fmt.Sprint(racer, i%2)])
		// Once it is served, it resolves; until then it is never denied either.
		if err := c.resolves(ctx, eager(name+"-check", name)); err != nil {
			y.fault(fmt.Errorf("%s does not resolve once its catalog is there: %w", name, err))
		}
		if err := errors.Join(c.delete(ctx, "ClusterCatalog", name), c.delete(ctx, "ClusterExtension", name)); err != nil {
			y.fault(err)
		}
	})
	y.report(t)
	t.Logf("%d times olmgate had not heard of the catalog when it was asked, and looked again before it denied", w.freshLists()-before)
}

// eager is an extension that wants a package of the catalog of the same name or of catalog a: the catalogs of the other
// rounds would only hide that the right one is unknown.
func eager(name, pkg string) object {
	o := extensionObject(name, pkg)
	selector := map[string]any{"matchExpressions": []any{map[string]any{
		"key": "olm.operatorframework.io/metadata.name", "operator": "In", "values": []any{"a", pkg},
	}}}
	if err := unstructured.SetNestedMap(o.Object, selector, "spec", "source", "catalog", "selector"); err != nil {
		panic(err) // cannot be: the fields above it are maps
	}
	return o
}

// freshLists is how often olmgate was about to deny and listed the catalogs again.
func (w *world) freshLists() int {
	w.Helper()
	metrics, err := w.metrics(w.gate)
	if err != nil {
		w.Fatal(err)
	}
	const name = `olmgate_admission_fresh_list_duration_seconds_count{result="success"} `
	n := 0
	for _, line := range grep(metrics, name) {
		if n, err = strconv.Atoi(strings.TrimPrefix(line, name)); err != nil {
			w.Fatal(err)
		}
	}
	return n
}

// fresh names the catalog, the extension and the package of a round.
func fresh(racer, i int) string { return fmt.Sprintf("fresh-%d-%d", racer, i) }

func (w *world) applyBoth(ctx context.Context, y *tally, c *caller, byKubectl bool, name, ref string) {
	if byKubectl {
		a := w.apply(documents(clusterCatalog(name, ref), manifestOf(eager(name, name))))
		y.count(true, a.warnings(), a.denial())
		return
	}
	if _, err := c.create(ctx, catalogObject(name, ref)); err != nil {
		y.fault(err)
	}
	_, err := c.create(ctx, eager(name, name))
	y.count(false, c.warned(), err)
}

// denial is an error when kubectl failed.
func (a answer) denial() error {
	if a.failed {
		return errors.New(a.text())
	}
	return nil
}

// resolves waits until an extension is admitted without a warning, and fails at once when it is denied.
func (c *caller) resolves(ctx context.Context, o object) error {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	var denial error
	err := cluster.Poll(ctx, func(ctx context.Context) error {
		c.warned()
		if denial = c.try(ctx, o); denial != nil {
			return nil //nolint:nilerr // a denial ends the waiting; it is returned below
		}
		if warnings := c.warned(); len(warnings) > 0 {
			return errors.New(strings.Join(warnings, "; "))
		}
		return nil
	})
	return errors.Join(denial, err)
}
