package certs

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// patience is how long a replica whose certificate the API server does not trust stays unready. It is long enough for a
// roll-out to stop at it, and an end in case the API server knows better.
const patience = 10 * time.Minute

// holder keeps the certificate that is served, and whether that is good enough to take requests.
type holder struct {
	clock clock.PassiveClock
	log   *slog.Logger

	mu    sync.RWMutex
	chain *chain
	trust Trust
	// problem is why the replica is not ready; nil once it was.
	problem error
	// begun is when a certificate was there for the first time.
	begun time.Time
	// cautious is set when another replica may serve what every API server trusts already.
	cautious           bool
	rotations, changes int
}

// current is the chain that is served, nil when there is none.
func (h *holder) current() *chain {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.chain
}

// alive is the chain that is served, nil when there is none or it has expired.
func (h *holder) alive(now time.Time) *chain {
	if ch := h.current(); ch != nil && !ch.expired(now) {
		return ch
	}
	return nil
}

// put makes the chain the one that is served. The caller holds the lock.
func (h *holder) put(ch *chain) {
	if before := h.chain; before != nil {
		h.rotations++
		if !before.roots.hasAll(ch.roots) {
			h.changes++
		}
	}
	h.chain = ch
	h.log.Info("a new certificate is served", "notAfter", ch.leaf.NotAfter.UTC(), "issuer", ch.leaf.Issuer.String())
}

// serve answers a handshake. One that has expired is served for want of a better one: the clock may be wrong here, and
// the API server goes by its own.
func (h *holder) serve() (*tls.Certificate, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.chain == nil {
		return nil, fmt.Errorf("there is no serving certificate yet: %w", h.problem)
	}
	return h.chain.pair, nil
}

// expiry is an error when what is served has expired. The caller holds the lock.
func (h *holder) expiry(now time.Time) error {
	if h.chain.expired(now) {
		return fmt.Errorf("the serving certificate expired at %s", h.chain.leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

func (h *holder) started() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return !h.begun.IsZero()
}

func (h *holder) begin(now time.Time, cautious bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begun, h.cautious = now, cautious
}

// fail notes a problem of a replica that is not ready yet.
func (h *holder) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.problem != nil {
		h.problem = err
	}
}

// judge notes whether the certificate is trusted, and makes the replica ready when it can take requests.
func (h *holder) judge(now time.Time, trusted, settled bool, distrust error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trust = NotTrusted
	if trusted {
		h.trust = Trusted
	}
	switch {
	case h.problem == nil:
	case trusted && (settled || !h.cautious):
		h.problem = nil
	case now.Sub(h.begun) > patience:
		h.log.Error("the replica takes requests although the API server may not trust its certificate", "after", patience, "because", distrust)
		h.problem = nil
	case trusted:
		h.problem = errors.New("the caBundle trusts the serving certificate, but not every API server may know yet; " +
			"another replica may serve one that they know")
	default:
		h.problem = distrust
	}
}

// Ready implements Source.
func (h *holder) Ready() error {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.problem != nil {
		return fmt.Errorf("the serving certificate is not ready: %w", h.problem)
	}
	return h.expiry(h.clock.Now())
}

// State implements Source.
func (h *holder) State() State {
	h.mu.RLock()
	defer h.mu.RUnlock()
	s := State{Trust: h.trust, Rotations: h.rotations, Changes: h.changes}
	if h.chain != nil {
		s.NotAfter = h.chain.leaf.NotAfter
	} else {
		s.Trust = NotTrusted
	}
	return s
}
