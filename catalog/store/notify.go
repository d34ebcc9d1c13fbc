package store

import "sync"

// watchers are functions that are told the names of catalogs that changed.
type watchers struct {
	mu   sync.Mutex
	next int
	all  map[int]func(name string)
}

// Watch has a function called after what Content or State says about a catalog has changed, until stop is called. The
// function must not block for long.
func (s *Store) Watch(changed func(name string)) (stop func()) {
	w := &s.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[int]func(string){}
	}
	id := w.next
	w.next++
	w.all[id] = changed
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, id)
	}
}

// changed tells everybody who watches.
func (s *Store) changed(name string) {
	s.watchers.mu.Lock()
	defer s.watchers.mu.Unlock()
	for _, f := range s.watchers.all {
		f(name)
	}
}
