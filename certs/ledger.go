package certs

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// maxTakenOver bounds how many foreign authorities of a caBundle stay trusted.
const maxTakenOver = 8

// ledger is what the API server shall trust, as a Secret that all replicas share holds it.
type ledger struct {
	// trusted is what caBundle shall hold.
	trusted bundle
	// since is when an authority joined it or was put to use last; it bounds how long those before are kept. It is zero
	// when the Secret was damaged or is new, so that trusted may lack some that are in use.
	since time.Time
	// settled is the mark of the authorities that a replica has seen trusted for the settle time.
	settled string
}

// mark tells authorities from others in an annotation.
func mark(authorities bundle) string {
	sum := sha256.Sum256(authorities.encode())
	return hex.EncodeToString(sum[:8])
}

// readLedger takes what can be read of a Secret; since is zero when there is no time in it.
func readLedger(secret *corev1.Secret) ledger {
	since, err := time.Parse(time.RFC3339, secret.Annotations[sinceAnnotation])
	if err != nil {
		since = time.Time{}
	}
	return ledger{parseBundle(secret.Data[caKey]), since, secret.Annotations[settledAnnotation]}
}

// annotations are what goes with the bundle into the Secret.
func (l ledger) annotations() map[string]string {
	a := map[string]string{sinceAnnotation: l.since.UTC().Format(time.RFC3339)}
	if l.settled != "" {
		a[settledAnnotation] = l.settled
	}
	return a
}

// use is who needs an authority to be trusted.
type use struct {
	now time.Time
	// needed are the authorities of what will be served from now on.
	needed bundle
	// serving are those of what this replica serves; empty when that has ended.
	serving bundle
	// offered are those that the caBundles hold, alive.
	offered bundle
	// remembered is what this replica saw in the Secret last.
	remembered bundle
	// arriving is set until the replica has seen the caBundles once: they may be of another source so far.
	arriving bool
	// keep is how long after since those before may still be in use.
	keep time.Duration
}

// record adds what somebody may serve a certificate of, and drops what nobody can any more. It reports whether
// something stays trusted that is on its way out.
func (l ledger) record(u use) (ledger, bool) {
	ahead := l.since.After(u.now.Add(24 * time.Hour)) // written by a clock that was wrong
	damaged := l.since.IsZero() || ahead
	inUse := u.serving
	if damaged {
		inUse = inUse.with(u.remembered...)
	}
	if damaged || u.arriving && !u.offered.hasAll(u.needed) {
		// Another replica, or another source that wrote the caBundle so far, may serve what it trusts.
		inUse = inUse.with(u.offered.newest(maxTakenOver)...)
	}
	missing := inUse.without(l.trusted).without(u.needed)
	if damaged || len(missing) > 0 || !l.trusted.hasAll(u.needed) {
		l.since = u.now
	}
	if u.now.Sub(l.since) > u.keep {
		l.trusted = u.serving
	}
	l.trusted = l.trusted.with(u.needed...).with(missing...).alive(u.now)
	return l, len(missing) > 0
}
