package certs

import (
	"time"
)

// sight remembers since when the API server has been told to trust each certificate. A caBundle takes effect a moment
// after it was written, since API servers learn of it through informers. With a real clock the time that has passed is
// that of the monotonic clock: setting the wall clock makes nothing settle.
type sight struct {
	// settle is how long after that every API server knows.
	settle time.Duration
	// since when a certificate has been in the caBundle of every webhook.
	since map[string]time.Time
	// trusted are those certificates.
	trusted bundle
	// uncalledSince is since when there has been no webhook at all, so that anything may be served.
	uncalledSince time.Time
	called        bool
}

// look takes note of what the API server is told now.
func (s *sight) look(h hooks, now time.Time) {
	first := func(before time.Time) time.Time {
		if before.IsZero() || before.After(now) { // a clock that went back starts anew
			return now
		}
		return before
	}
	if s.called = h.called(); !s.called {
		s.uncalledSince, s.since, s.trusted = first(s.uncalledSince), nil, nil
		return
	}
	since := map[string]time.Time{}
	s.trusted = h.trusted()
	for _, cert := range s.trusted {
		since[string(cert.Raw)] = first(s.since[string(cert.Raw)])
	}
	s.uncalledSince, s.since = time.Time{}, since
}

// settled are the certificates that every API server knows by now.
func (s *sight) settled(now time.Time) bundle {
	var out bundle
	for _, cert := range s.trusted {
		if now.Sub(s.since[string(cert.Raw)]) >= s.settle {
			out = append(out, cert)
		}
	}
	return out
}

// free reports whether nobody has called for so long that anything may be served.
func (s *sight) free(now time.Time) bool {
	return !s.called && !s.uncalledSince.IsZero() && now.Sub(s.uncalledSince) >= s.settle
}
