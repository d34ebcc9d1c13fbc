package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/olmgate/olmgate/catalog/source"
	"github.com/olmgate/olmgate/catalog/store"
	"github.com/olmgate/olmgate/resolver"
)

// follower judges the extensions of a cluster again whenever one of them or a catalog changes.
type follower struct {
	// names are the extensions that count; none stands for all.
	names    []string
	rule     resolver.Rule
	streams  streams
	printer  changePrinter
	manager  ctrl.Manager
	contents *store.Store
	// changed holds at most one element: what changes before it is taken is one change.
	changed chan struct{}
	// shown are the verdicts that were printed last, by extension.
	shown map[string]judged
	// said is the kind of what was told last of a catalog or extension, so that nothing is told twice.
	said map[string]string
}

// quiet keeps the libraries from logging in between the rows; what a person should know, the follower says.
var quiet = sync.OnceFunc(func() {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
})

// setUp makes the manager whose caches hold the objects, and the store that holds the catalogs' content.
func (w *follower) setUp(config *rest.Config, way source.Options) error {
	quiet()
	config = rest.CopyConfig(config)
	config.Timeout = 0 // --request-timeout is for one answer, and a watch has no end
	contact := &contact{say: w.streams.say, lost: map[string]bool{}}
	config.Wrap(contact.wrap)
	skip := true
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 newScheme(),
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Controller:             ctrlconfig.Controller{SkipNameValidation: &skip},
		Cache: cache.Options{
			DefaultTransform:         cache.TransformStripManagedFields(),
			DefaultWatchErrorHandler: func(context.Context, *toolscache.Reflector, error) {}, // contact tells
		},
	})
	if err != nil {
		return fmt.Errorf("setting up the watch at %s: %w", config.Host, err)
	}
	from, err := source.Pick(way)
	if err != nil {
		return err
	}
	w.manager = manager
	w.contents = store.New(store.Options{Fetcher: from})
	w.contents.Watch(func(string) { w.poke() })
	return w.contents.SetupWithManager(manager)
}

// poke asks for another look. It never blocks.
func (w *follower) poke() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *follower) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	for _, kind := range []client.Object{&ocv1.ClusterExtension{}, &ocv1.ClusterCatalog{}} {
		informer, err := w.manager.GetCache().GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err == nil {
			_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
				AddFunc: func(any) { w.poke() }, UpdateFunc: func(any, any) { w.poke() }, DeleteFunc: func(any) { w.poke() },
			})
		}
		if err != nil {
			stop()
			return fmt.Errorf("setting up the watch of %T: %w", kind, err)
		}
	}
	ended := make(chan error, 1)
	go func() {
		defer stop()
		ended <- w.manager.Start(ctx)
	}()
	err := w.loop(ctx)
	stop()
	if err := <-ended; err != nil {
		return fmt.Errorf("watching the cluster: %w", err)
	}
	return err
}

// loop prints until the end. It waits first until every catalog was loaded or has failed.
func (w *follower) loop(ctx context.Context) error {
	if !w.manager.GetCache().WaitForCacheSync(ctx) {
		return nil
	}
	ready := w.contents.Settled()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ready:
			ready = nil
		case <-w.changed:
		}
		if ready != nil {
			continue
		}
		if err := w.look(ctx); err != nil {
			return err
		}
	}
}

// look judges all extensions and prints what is new.
func (w *follower) look(ctx context.Context) error {
	catalogs, loading, err := w.catalogs(ctx)
	if err != nil {
		return err
	}
	now, err := w.judge(ctx, catalogs)
	if err != nil {
		return err
	}
	if w.shown == nil {
		w.shown = now
		if len(now) == 0 {
			w.streams.say("there is no ClusterExtension yet")
		}
		err = w.printer.first(sortedByName(now))
	} else {
		err = w.update(now, loading)
	}
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	w.sayMissing(catalogs, loading)
	return nil
}

// catalogs are those of the cluster with their content, and the names of those whose content is on its way.
func (w *follower) catalogs(ctx context.Context) ([]resolver.Catalog, map[string]bool, error) {
	var found ocv1.ClusterCatalogList
	if err := w.manager.GetClient().List(ctx, &found); err != nil {
		return nil, nil, fmt.Errorf("listing the ClusterCatalogs: %w", err)
	}
	slices.SortFunc(found.Items, func(a, b ocv1.ClusterCatalog) int { return strings.Compare(a.Name, b.Name) })
	list := make([]resolver.Catalog, len(found.Items))
	loading := map[string]bool{}
	for i := range found.Items {
		cc := &found.Items[i]
		list[i] = resolver.NewCatalog(cc, w.contents.Content(cc))
		if w.loads(cc, &list[i]) {
			loading[cc.Name] = true
		}
	}
	return list, loading, nil
}

// loads reports whether content of a catalog is on its way: the store has not heard of the revision yet, or tries for
// the first time to load it.
func (w *follower) loads(cc *ocv1.ClusterCatalog, c *resolver.Catalog) bool {
	from, urls := cc.Status.ResolvedSource, cc.Status.URLs
	if !c.Serving || c.Unavailable || c.Deleting || from == nil || from.Image == nil || urls == nil || urls.Base == "" {
		return false
	}
	state, known := w.contents.State(cc.Name)
	if !known || state.UID != cc.UID || state.Wanted != from.Image.Ref {
		return true
	}
	return state.Failures == 0 && (state.Phase == store.Loading || state.Phase == store.Outdated)
}

// judge is the verdict about each extension that counts, by name.
func (w *follower) judge(ctx context.Context, catalogs []resolver.Catalog) (map[string]judged, error) {
	var found ocv1.ClusterExtensionList
	if err := w.manager.GetClient().List(ctx, &found); err != nil {
		return nil, fmt.Errorf("listing the ClusterExtensions: %w", err)
	}
	now := map[string]judged{}
	for i := range found.Items {
		ext := &found.Items[i]
		switch {
		case len(w.names) > 0 && !slices.Contains(w.names, ext.Name):
		case !resolver.Judges(ext):
			w.sayOnce("extension "+ext.Name, ext.Spec.Source.SourceType, notJudged(ext))
		default:
			now[ext.Name] = judged{ext, resolver.Outlook(ext, catalogs, w.rule)}
		}
	}
	return now, nil
}

// update prints what is another than what is shown, by name.
func (w *follower) update(now map[string]judged, loading map[string]bool) error {
	for _, j := range sortedByName(w.shown) {
		if _, there := now[j.verdict.Extension]; !there {
			delete(w.shown, j.verdict.Extension)
			if err := w.printer.gone(j); err != nil {
				return err
			}
		}
	}
	for _, j := range sortedByName(now) {
		before, known := w.shown[j.verdict.Extension]
		if known && len(loading) > 0 && passing(&j.verdict) {
			continue // the end of the load brings another look
		}
		w.shown[j.verdict.Extension] = j
		var err error
		if known {
			err = w.printer.changed(before, j)
		} else {
			err = w.printer.added(j)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// passing reports whether a verdict is one that the end of a load may change.
func passing(v *resolver.Verdict) bool {
	return v.Outcome == resolver.OutcomeUndecided ||
		slices.ContainsFunc(v.Notes, func(n resolver.Note) bool { return n.Reason == resolver.CatalogContentOutdated })
}

// sayMissing says which catalogs leave extensions undecided. The words of a failure differ from try to try, so each phase
// is told once.
func (w *follower) sayMissing(catalogs []resolver.Catalog, loading map[string]bool) {
	undecided := false
	for _, j := range w.shown {
		undecided = undecided || j.verdict.Outcome == resolver.OutcomeUndecided
	}
	for i := range catalogs {
		c := &catalogs[i]
		text := missing(c)
		switch state, _ := w.contents.State(c.Name); {
		case text == "":
			delete(w.said, "catalog "+c.Name)
		case undecided && !loading[c.Name]:
			w.sayOnce("catalog "+c.Name, string(state.Phase), text)
		}
	}
}

// sayOnce tells something about a thing unless the last that was told about it was of the same kind.
func (w *follower) sayOnce(about, kind, text string) {
	if last, told := w.said[about]; !told || last != kind {
		w.streams.say("%s", text)
	}
	w.said[about] = kind
}

func sortedByName(all map[string]judged) []judged {
	var list []judged
	for _, j := range all {
		list = append(list, j)
	}
	slices.SortFunc(list, func(a, b judged) int { return strings.Compare(a.verdict.Extension, b.verdict.Extension) })
	return list
}
