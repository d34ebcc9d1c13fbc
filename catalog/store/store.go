package store

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
)

// Store holds the content of the ClusterCatalogs of a cluster. Its methods may be called by many goroutines.
type Store struct {
	opts  Options
	disk  *disk // nil without a cache directory
	ctx   context.Context
	stop  context.CancelFunc
	loads sync.WaitGroup
	slots chan struct{}
	free  func()

	// views is what readers see; every change replaces the map.
	views atomic.Pointer[map[string]view]

	watchers watchers

	mu       sync.Mutex
	closed   bool
	tracked  map[string]*tracked
	unloaded *settling
	// busy counts loads that run or wait for a slot; garbage is whether one of them left some behind.
	busy    int
	garbage bool
}

// tracked is what the Store knows and does about one ClusterCatalog. Guarded by Store.mu.
type tracked struct {
	cc   *ocv1.ClusterCatalog
	want revision
	base string
	// loaded is the last content, of whatever revision of this ClusterCatalog; nil when none was ever loaded.
	loaded *loaded
	// run is the load of want that is going on, retry the wait for the next one. At most one of them is set.
	run   *run
	retry *time.Timer
	due   time.Time
	// failures counts those in a row for want, err is the last.
	failures int
	err      error
}

// loaded is the content of one revision. It never changes.
type loaded struct {
	index *catalog.Index
	of    revision
	at    time.Time
}

// run is one load. A load that is not its catalog's run any more was overtaken, and its result is dropped.
type run struct {
	of     revision
	cc     *ocv1.ClusterCatalog
	cancel context.CancelFunc
}

// New returns a Store that knows no catalog yet. It starts to work by SetupWithManager.
func New(o Options) *Store {
	o = o.withDefaults()
	ctx, stop := context.WithCancel(context.Background())
	s := &Store{
		opts:     o,
		ctx:      ctx,
		stop:     stop,
		slots:    make(chan struct{}, o.Concurrency),
		free:     debug.FreeOSMemory,
		tracked:  map[string]*tracked{},
		unloaded: newSettling(),
	}
	s.views.Store(&map[string]view{})
	if o.CacheDir != "" {
		d, err := openDisk(o.CacheDir, o.Limits)
		if err != nil {
			o.Log.Error(err, "Going on without the cache of catalogs: every restart loads all of them again")
		} else {
			s.disk = d
		}
	}
	return s
}

// Content is what is at hand for a ClusterCatalog, which may be read more recently than the Store's own watch. It reads
// memory only and takes no lock.
//
// Content of another UID is never given. Content of another revision than cc's status names is Outdated; when the
// status names none, as for a catalog that is Unavailable, what was loaded last counts.
func (s *Store) Content(cc *ocv1.ClusterCatalog) catalog.Content {
	v, known := (*s.views.Load())[cc.Name]
	if !known || v.want.uid != cc.UID {
		v = view{}
	}
	if v.loaded == nil {
		return catalog.Content{Problem: v.missing(cc)}
	}
	if ref := RefOf(cc); ref != "" && ref != v.loaded.of.ref {
		return catalog.Content{Index: v.loaded.index, Outdated: true, Problem: v.outdated(ref)}
	}
	return catalog.Content{Index: v.loaded.index}
}

// State describes one catalog; false when it is not known.
func (s *Store) State(name string) (State, bool) {
	v, known := (*s.views.Load())[name]
	return v.state, known
}

// Close ends all loads and waits for them. The content that is loaded stays.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	for _, t := range s.tracked {
		t.halt()
	}
	s.mu.Unlock()
	s.stop()
	s.loads.Wait()
}
