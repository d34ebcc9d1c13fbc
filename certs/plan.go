package certs

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"time"
)

var (
	errMissing = errors.New("it is missing")
	errEmpty   = errors.New("it is empty")
	// errOthers is why a replica waits before it makes an authority.
	errOthers = errors.New("another replica may have it and put it back, which is waited for a moment")
)

// planner decides what the Secret of SelfManaged shall hold. It touches nothing.
type planner struct {
	random    io.Reader
	names     []string
	authority time.Duration
	serving   time.Duration
}

// situation is what a plan depends on.
type situation struct {
	now time.Time
	// stored is what the Secret holds; damage is why that has no current authority.
	stored shared
	damage error
	// remembered is what this replica saw in it when it was last in order.
	remembered *shared
	// serving is the authority of the certificate that this replica serves; nil when there is none that is still good.
	serving *x509.Certificate
	// offered are the authorities that the caBundles hold.
	offered bundle
	// arriving is set until the replica has seen the caBundles once: they may be of another source so far.
	arriving bool
	// patient is set as long as another replica may put back what is missing.
	patient bool
	// currentSettled and nextSettled are set when every API server trusts those of stored.
	currentSettled, nextSettled bool
}

// plan is what the Secret shall hold, and what is remarkable about that, for the log.
func (p planner) plan(s situation) (shared, []string, error) {
	want, said, err := p.authorities(s)
	if err != nil {
		return want, nil, err
	}
	if err := p.rotate(&want, s.now, &said); err != nil {
		return want, nil, err
	}
	settled := s.currentSettled && want.current.same(s.stored.current)
	if want.next != nil && s.nextSettled && want.next.same(s.stored.next) {
		want.current, want.next, want.since, settled = want.next, nil, s.now, true
		said = append(said, "the new authority signs from now on")
	}
	if settled {
		want.settled = mark(bundle{want.current.cert})
	}
	p.trust(&want, s, &said)
	return want, said, nil
}

// authorities sees to the current one: as it is stored, put back from memory, or new.
func (p planner) authorities(s situation) (shared, []string, error) {
	problem := s.damage
	if problem == nil {
		problem = s.stored.current.usable(s.now, p.names)
	}
	if problem == nil {
		return s.stored, nil, nil
	}
	want := s.stored
	if r := s.remembered; r != nil && r.current.usable(s.now, p.names) == nil {
		want.current, want.since, want.settled = r.current, time.Time{}, r.settled
		if want.next == nil {
			want.next = r.next
		}
		if want.rotated == "" {
			want.rotated = r.rotated
		}
		return want, []string{"the authority was put back: " + problem.Error()}, nil
	}
	if s.patient {
		return want, nil, fmt.Errorf("%w; %w", problem, errOthers)
	}
	fresh, err := newAuthority(p.random, s.now, p.names, p.authority)
	if err != nil {
		return want, nil, err
	}
	want.current, want.since, want.rotated = fresh, time.Time{}, want.rotate
	return want, []string{"a new authority was made: " + problem.Error()}, nil
}

// rotate begins a rotation when it is due or asked for, with an authority that does not sign yet.
func (p planner) rotate(want *shared, now time.Time, said *[]string) error {
	if want.next != nil && (want.next.usable(now, p.names) != nil || want.next.same(want.current)) {
		want.next = nil
	}
	asked := want.rotate != "" && want.rotate != want.rotated
	due := now.After(want.current.cert.NotAfter.Add(-max(p.authority/10, p.serving)))
	if want.next != nil || !asked && !due {
		return nil
	}
	next, err := newAuthority(p.random, now, p.names, p.authority)
	if err != nil {
		return err
	}
	want.next, want.rotated = next, want.rotate
	*said = append(*said, "a new authority was made, which signs once every API server trusts it")
	return nil
}

// trust sees to what caBundle shall hold.
func (p planner) trust(want *shared, s situation, said *[]string) {
	u := use{
		now: s.now, needed: bundle{want.current.cert}, offered: s.offered, arriving: s.arriving,
		// A tenth more than any serving certificate lives, for clocks that differ.
		keep: p.serving + p.serving/10,
	}
	if want.next != nil {
		u.needed = u.needed.with(want.next.cert)
	}
	if s.remembered != nil {
		u.remembered = s.remembered.trusted
	}
	if s.serving != nil {
		u.serving = bundle{s.serving}
	}
	var kept bool
	if want.ledger, kept = want.record(u); kept {
		*said = append(*said, "an authority that may be in use stays trusted")
	}
}
