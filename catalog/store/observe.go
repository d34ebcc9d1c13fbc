package store

import (
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
)

// observe takes in a ClusterCatalog as it was read, and starts or ends loads as it says.
func (s *Store) observe(cc *ocv1.ClusterCatalog) {
	s.mu.Lock()
	changed := s.observeLocked(cc)
	s.mu.Unlock()
	if changed {
		s.changed(cc.Name)
	}
}

func (s *Store) observeLocked(cc *ocv1.ClusterCatalog) (changed bool) {
	if s.closed {
		return false
	}
	t := s.tracked[cc.Name]
	if t != nil && older(cc, t.cc) {
		return false
	}
	if t == nil || t.cc.UID != cc.UID {
		if t != nil {
			t.halt()
		}
		t = &tracked{cc: cc}
		s.tracked[cc.Name] = t
	}
	edited := t.cc.ResourceVersion != cc.ResourceVersion
	t.cc = cc
	if want, base := wanted(cc); want != t.want || base != t.base {
		t.halt()
		t.want, t.base, t.failures, t.err = want, base, 0, nil
	}
	nothing := t.want.ref == "" || t.loaded != nil && t.loaded.of == t.want
	switch {
	case nothing:
	case t.retry != nil && edited:
		s.hasten(cc.Name, t)
	case t.retry == nil && t.run == nil:
		s.start(cc.Name, t)
	}
	changed = s.publish(cc.Name)
	if nothing {
		s.unloaded.done(cc.Name)
	}
	return changed
}

// drop forgets a ClusterCatalog that is gone, its content, and its file in the cache directory.
func (s *Store) drop(name string) {
	s.mu.Lock()
	if t := s.tracked[name]; t != nil {
		t.halt()
		delete(s.tracked, name)
	}
	changed := s.publish(name)
	s.unloaded.done(name)
	s.mu.Unlock()
	if s.disk != nil {
		s.disk.remove(name, func() bool { return s.tracks(name) })
	}
	if changed {
		s.changed(name)
	}
}

func (s *Store) tracks(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tracked[name] != nil
}

// halt ends what is going on for a catalog. Store.mu is held.
func (t *tracked) halt() {
	if t.run != nil {
		t.run.cancel()
		t.run = nil
	}
	if t.retry != nil {
		t.retry.Stop()
		t.retry = nil
	}
}

// hasten brings the next try forward, as an edited ClusterCatalog may be a repaired one. It is not tried at once, or
// somebody who writes often would make olmgate download as often. Store.mu is held.
func (s *Store) hasten(name string, t *tracked) {
	if wait := s.opts.Jitter(normal.First); time.Until(t.due) > wait {
		s.schedule(name, t, wait)
	}
}
