package store

import (
	"context"
	"fmt"
	"time"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/source"
)

// start begins to load what is wanted of a catalog. Store.mu is held.
func (s *Store) start(name string, t *tracked) {
	ctx, cancel := context.WithCancel(s.ctx)
	r := &run{of: t.want, cc: t.cc, cancel: cancel}
	t.run = r
	s.busy++
	s.loads.Go(func() {
		defer cancel()
		defer s.idle()
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return
		}
		s.load(ctx, name, t, r)
	})
}

// load brings content from the cache directory or the Fetcher and puts it in place.
func (s *Store) load(ctx context.Context, name string, t *tracked, r *run) {
	begun := time.Now()
	var index *catalog.Index
	if s.disk != nil {
		index = s.fromDisk(name, r.of)
	}
	cached := index != nil
	var err error
	if !cached {
		if index, err = s.opts.Fetcher.Fetch(ctx, r.cc); err == nil {
			err = s.confirm(ctx, name, r)
		}
	}
	l := s.finish(name, t, r, index, err)
	if l == nil {
		return
	}
	stats := index.Stats()
	s.opts.Log.Info("Loaded a catalog", "catalog", name, "ref", r.of.ref, "fromCache", cached,
		"packages", stats.Packages, "bundles", stats.Bundles, "bytes", stats.Bytes, "took", time.Since(begun).Round(time.Millisecond).String())
	if s.disk != nil && !cached {
		s.toDisk(name, l)
	}
}

// confirm makes sure that the ClusterCatalog still names the revision whose download has begun. If it names another,
// it is taken in, which starts a load of that and ends this one.
//
// catalogd swaps its content in up to 7 ms before it writes the status, so a small catalog may still be labelled with
// the revision before; the status then follows within those milliseconds and has it loaded again.
func (s *Store) confirm(ctx context.Context, name string, r *run) error {
	if s.opts.Latest == nil {
		return nil
	}
	now, err := s.opts.Latest(ctx, name)
	if err != nil {
		return fmt.Errorf("reading ClusterCatalog %q again after the download: %w", name, err)
	}
	if want, _ := wanted(now); want == r.of {
		return nil
	}
	s.observe(now)
	return fmt.Errorf("ClusterCatalog %q was changed during the download", name)
}

// finish takes the result of a load, unless it was overtaken. It returns the content when that is in place now.
func (s *Store) finish(name string, t *tracked, r *run, index *catalog.Index, err error) *loaded {
	s.mu.Lock()
	if err == nil || source.PaceOf(err) != source.PaceFast {
		s.garbage = true
	}
	if t.run != r || s.closed {
		s.mu.Unlock()
		return nil
	}
	t.run = nil
	var l *loaded
	if err != nil {
		s.failed(name, t, err)
	} else {
		l = &loaded{index: index, of: r.of, at: time.Now()}
		t.loaded, t.failures, t.err = l, 0, nil
	}
	changed := s.publish(name)
	s.unloaded.done(name)
	s.mu.Unlock()
	if changed {
		s.changed(name)
	}
	return l
}

// idle is called at the end of each load. After the last of several, memory goes back to the operating system: what
// loading leaves behind is several times the size of the indexes, and Go's runtime returns it only slowly, or not at
// all in a process that then does next to nothing. It costs one garbage collection.
func (s *Store) idle() {
	s.mu.Lock()
	s.busy--
	free := s.busy == 0 && s.garbage && !s.closed
	if free {
		s.garbage = false
	}
	s.mu.Unlock()
	if free {
		s.free()
	}
}
