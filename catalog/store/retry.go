package store

import (
	"time"

	"github.com/olmgate/olmgate/catalog/source"
)

// The waits between tries. A catalogd that restarts has its content again after 0.2 to 4 s, after a crash with leader
// election in two and a half minutes, and asking it costs nothing while it says 404. Content that is broken or empty
// costs a download to find out that it still is.
var (
	fast   = source.Backoff{First: 250 * time.Millisecond, Max: 30 * time.Second}
	normal = source.Backoff{First: time.Second, Max: 5 * time.Minute}
	slow   = source.Backoff{First: time.Minute, Max: 5 * time.Minute}
)

func backoffOf(p source.Pace) source.Backoff {
	switch p {
	case source.PaceFast:
		return fast
	case source.PaceSlow:
		return slow
	}
	return normal
}

// failed notes a failure and schedules the next try. Store.mu is held.
func (s *Store) failed(name string, t *tracked, err error) {
	t.failures++
	t.err = err
	pace := source.PaceOf(err)
	wait := s.opts.Jitter(backoffOf(pace).Wait(t.failures))
	s.schedule(name, t, wait)
	s.opts.Log.Info("Loading a catalog failed", "catalog", name, "ref", t.want.ref, "failures", t.failures,
		"retryIn", wait.Round(time.Millisecond).String(), "error", err.Error())
}

// schedule sets the time of the next try. Store.mu is held.
func (s *Store) schedule(name string, t *tracked, wait time.Duration) {
	if t.retry != nil {
		t.retry.Stop()
	}
	t.due = time.Now().Add(wait)
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t.retry != timer || s.closed {
			return // overtaken
		}
		t.retry = nil
		s.start(name, t)
	})
	t.retry = timer
}
