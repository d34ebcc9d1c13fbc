package store

// settling knows which catalogs of the first list were neither loaded nor have failed. Guarded by Store.mu, but for the
// channel.
type settling struct {
	listed  bool
	waiting map[string]bool
	closed  bool
	all     chan struct{}
}

func newSettling() *settling {
	return &settling{waiting: map[string]bool{}, all: make(chan struct{})}
}

// done takes a catalog off the list. What led to it is published before, or a reader of Settled could miss it.
func (s *settling) done(name string) {
	delete(s.waiting, name)
	s.check()
}

func (s *settling) check() {
	if s.listed && len(s.waiting) == 0 && !s.closed {
		s.closed = true
		close(s.all)
	}
}

// Settled is closed once every catalog of the first list was loaded, has failed once, or has nothing to load. A process
// that just started reports ready then: before, it would know less than it could. It may take as long as a download,
// so whoever waits should also have a limit.
func (s *Store) Settled() <-chan struct{} { return s.unloaded.all }

// listed is called once, after all ClusterCatalogs of the first list were observed.
func (s *Store) listed() {
	s.mu.Lock()
	var names []string
	for name, t := range s.tracked {
		names = append(names, name)
		if t.want.ref != "" && t.err == nil && (t.loaded == nil || t.loaded.of != t.want) {
			s.unloaded.waiting[name] = true
		}
	}
	s.unloaded.listed = true
	s.unloaded.check()
	s.mu.Unlock()
	if s.disk != nil {
		if err := s.disk.prune(names); err != nil {
			s.opts.Log.Error(err, "Removing the cached content of catalogs that are gone")
		}
	}
}
