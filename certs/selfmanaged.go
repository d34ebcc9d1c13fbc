package certs

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// restoreTime is how long a replica that does not know the authority waits for one that does to put it back.
const restoreTime = 5 * time.Second

// SelfManagedOptions are what SelfManaged needs.
type SelfManagedOptions struct {
	Cluster
	// Secret holds the authority; "" means olmgate-ca.
	Secret string
	// AuthorityLifetime is how long an authority lives; 0 means DefaultAuthorityLifetime. It is replaced in the last
	// tenth, or when no less than ServingLifetime is left.
	AuthorityLifetime time.Duration
	// ServingLifetime is how long a serving certificate lives; 0 means DefaultServingLifetime. It is replaced in the
	// last third, which must be longer than Settle.
	ServingLifetime time.Duration
	// Rand; nil means crypto/rand.
	Rand io.Reader
}

// SelfManaged keeps an authority in a Secret that all replicas share, signs a serving certificate per replica that
// never leaves memory, and writes the authority into the ValidatingWebhookConfiguration, again when something wipes it.
type SelfManaged struct {
	core
	planner planner
	secret  ownSecret

	// Guarded by core.reconciling.
	remembered *shared
	damaged    time.Time
	arrived    bool

	// Guarded by holder.mu. signer made what is served; latest is the current authority of the Secret, which replaces
	// signer once it is trusted everywhere.
	signer, latest *authority
}

// NewSelfManaged fills in the defaults. Nothing is read before Start.
func NewSelfManaged(o SelfManagedOptions) *SelfManaged {
	s := &SelfManaged{core: newCore(o.Cluster)}
	orDefault(&o.Secret, "olmgate-ca")
	orDefault(&o.AuthorityLifetime, DefaultAuthorityLifetime)
	orDefault(&o.ServingLifetime, DefaultServingLifetime)
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	s.planner = planner{random: o.Rand, names: s.names(), authority: o.AuthorityLifetime, serving: o.ServingLifetime}
	s.secret = ownSecret{client: s.Client, key: client.ObjectKey{Namespace: s.Namespace, Name: o.Secret}}
	return s
}

// Start implements Source. Errors do not end it: the API server may be away for a while.
func (s *SelfManaged) Start(ctx context.Context) error {
	return s.run(ctx, []watched{s.watchedSecret(s.secret.key.Name), s.watchedHooks()}, s.once)
}

// Reconcile compares once: the authority in the Secret, the caBundle of the webhooks, the certificate in memory.
func (s *SelfManaged) Reconcile(ctx context.Context) error {
	_, err := s.compare(ctx, s.once)
	return err
}

// once reads the webhooks before the Secret, and writes them last, as the version that was read. So a replica that was
// held up never takes from a caBundle what another one has added to it since.
func (s *SelfManaged) once(ctx context.Context) (bool, error) {
	h, err := s.readHooks(ctx)
	if err != nil {
		return false, err
	}
	now := s.Clock.Now()
	s.sight.look(h, now)
	want, err := s.share(ctx, h, now)
	if err != nil {
		return false, err
	}
	s.arrived = true
	s.adopt(want.current, now)
	after, err := s.writeBundle(ctx, h, want.trusted)
	if err == nil {
		s.sight.look(after, s.Clock.Now())
	}
	if !lostRace(err) {
		s.assess(h, want.ledger, now, err)
	}
	return want.next != nil || s.Ready() != nil || s.switching(), err
}

// share brings the Secret in order.
func (s *SelfManaged) share(ctx context.Context, h hooks, now time.Time) (shared, error) {
	secret, err := s.secret.read(ctx)
	if err != nil {
		return shared{}, err
	}
	sit := situation{now: now, remembered: s.remembered, offered: h.mentioned().alive(now), arriving: !s.arrived}
	sit.stored, sit.damage = readShared(secret)
	sit.patient = s.waitForOthers(sit)
	everywhere := func(a *authority) bool {
		return a != nil && (s.sight.free(now) || s.sight.settled(now).has(a.cert))
	}
	sit.currentSettled, sit.nextSettled = everywhere(sit.stored.current), everywhere(sit.stored.next)
	if ch := s.alive(now); ch != nil {
		sit.serving = ch.roots[0]
	}
	want, said, err := s.planner.plan(sit)
	if err != nil {
		return want, fmt.Errorf("the authority in Secret %s: %w", s.secret.key, err)
	}
	if secret == nil {
		if secret, err = s.secret.create(ctx); err != nil {
			return want, err
		}
		if len(secret.Data) > 0 { // another replica's by now
			return want, conflict(s.secret.key.Name, "another replica filled it")
		}
	}
	changed, err := s.secret.update(ctx, secret, want.data(), want.annotations())
	if err != nil {
		return want, err
	}
	if changed {
		s.writes.Add(1)
		level := slog.LevelInfo
		if sit.damage != nil && len(sit.offered) > 0 {
			level = slog.LevelWarn // not the first start
		}
		for _, message := range said {
			s.Log.Log(ctx, level, message, "secret", s.secret.key.String(), "signer", want.current.cert.Subject.CommonName, "trusted", len(want.trusted))
		}
	}
	s.remembered = &want
	return want, nil
}

// waitForOthers reports whether the Secret was found damaged only just now, while the caBundle says that another
// replica may have the authority.
func (s *SelfManaged) waitForOthers(sit situation) bool {
	if sit.damage == nil {
		s.damaged = time.Time{}
		return false
	}
	if s.damaged.IsZero() || s.damaged.After(sit.now) {
		s.damaged = sit.now
	}
	return len(sit.offered) > 0 && sit.now.Sub(s.damaged) < restoreTime
}

// adopt takes the current authority for the next serving certificate, now or once every API server trusts it.
func (s *SelfManaged) adopt(current *authority, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = current
	if s.signer == nil || s.sight.free(now) || s.sight.settled(now).has(current.cert) {
		s.signer = current
	}
	if err := s.renew(now); err != nil {
		s.log.Error("no serving certificate could be made", "error", err)
	}
}

// switching reports whether another authority waits to sign.
func (s *SelfManaged) switching() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return !s.signer.same(s.latest)
}

// GetCertificate implements Source. It looks at the clock at each handshake: a machine that slept wakes up with a
// certificate that no timer renewed.
func (s *SelfManaged) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now := s.Clock.Now()
	s.mu.RLock()
	fresh := s.fresh(now)
	s.mu.RUnlock()
	if !fresh {
		s.mu.Lock()
		err := s.renew(now)
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	return s.serve()
}

// fresh reports whether the certificate in memory will do. The caller holds the lock.
func (s *SelfManaged) fresh(now time.Time) bool {
	if s.chain == nil || s.signer == nil || now.Before(s.chain.leaf.NotBefore) || s.chain.expired(now) {
		return false
	}
	if !s.chain.roots.has(s.signer.cert) {
		return false
	}
	if !s.signer.same(s.latest) {
		return true // one by an authority on its way out would outlive it in the caBundle
	}
	end := s.chain.leaf.NotAfter
	return now.Before(end.Add(-s.planner.serving/3)) || !end.Before(s.signer.cert.NotAfter)
}

// renew makes a certificate if that in memory will not do. The caller holds the lock.
func (s *SelfManaged) renew(now time.Time) error {
	if s.fresh(now) {
		return nil
	}
	if s.signer == nil {
		return errors.New("no serving certificate: the authority has not been read yet")
	}
	if s.chain != nil && (s.chain.expired(now) || s.signer.usable(now, s.planner.names) != nil) {
		s.signer = s.latest // nothing that is trusted is left to serve
	}
	if problem := s.signer.usable(now, s.planner.names); problem != nil && s.chain != nil {
		s.log.Debug("no serving certificate can be made before the authority is replaced", "because", problem)
		return nil
	}
	ch, err := s.signer.issue(s.planner.random, now, s.planner.names, s.planner.serving)
	if err != nil {
		return fmt.Errorf("renew the serving certificate: %w", err)
	}
	s.put(ch)
	return nil
}
