package certs

import (
	"context"
	"fmt"
	"time"

	"github.com/cert-manager/cert-manager/pkg/client/clientset/versioned"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DefaultRetire is how long an authority that cert-manager no longer issues from stays trusted, for replicas that have
// not noticed.
const DefaultRetire = 24 * time.Hour

// Names of what CertManager expects, and makes with Create.
const (
	certificateName  = "olmgate-webhook"
	tlsSecretName    = "olmgate-webhook-tls"
	trustSecretName  = "olmgate-trust"
	authorityCRName  = "olmgate-ca"
	authorityKeyName = "olmgate-ca-key"
	selfSignedName   = "olmgate-selfsigned"
)

// allowInjection permits cainjector to copy a Secret that is not a Certificate's.
const allowInjection = "cert-manager.io/allow-direct-injection"

// CertManagerOptions are what CertManager needs.
type CertManagerOptions struct {
	Cluster
	// CertManager reads cert-manager's objects, and writes them with Create.
	CertManager versioned.Interface
	// Certificate is the one that cert-manager issues; "" means olmgate-webhook.
	Certificate string
	// TLSSecret is what it issues into; "" means olmgate-webhook-tls.
	TLSSecret string
	// TrustSecret holds the CAs that cainjector copies into caBundle; "" means olmgate-trust.
	TrustSecret string
	// Create makes the Certificate, and a private CA that signs it.
	Create bool
	// Retire is how long an authority stays trusted after another took its place; 0 means DefaultRetire. One of which
	// this replica serves a certificate stays anyway.
	Retire time.Duration
}

// CertManager serves the certificate that cert-manager keeps in a Secret, read from the API server as soon as it
// changes.
//
// A CA that changes arrives together with its first certificate, so that whichever the API server learns of first,
// requests fail. CertManager serves the new certificate only once every API server trusts it. Until then both CAs are
// needed: it keeps them in a Secret of its own, from which cainjector takes caBundle. From the Certificate it would
// take the new one alone; cainjector before 1.19 replaces what was there by that, and a later one has nothing else
// left when caBundle is wiped.
type CertManager struct {
	core
	options CertManagerOptions
	trust   ownSecret

	// Guarded by core.reconciling.
	remembered *ledger
	arrived    bool
	applied    time.Time
}

// NewCertManager fills in the defaults. Nothing is read before Start.
func NewCertManager(o CertManagerOptions) *CertManager {
	c := &CertManager{core: newCore(o.Cluster)}
	orDefault(&o.Certificate, certificateName)
	orDefault(&o.TLSSecret, tlsSecretName)
	orDefault(&o.TrustSecret, trustSecretName)
	orDefault(&o.Retire, DefaultRetire)
	c.options = o
	c.trust = ownSecret{
		client: c.Client, key: client.ObjectKey{Namespace: c.Namespace, Name: o.TrustSecret},
		annotations: map[string]string{allowInjection: "true"},
	}
	return c
}

// Start implements Source. Errors do not end it: the API server or cert-manager may be away for a while.
func (c *CertManager) Start(ctx context.Context) error {
	return c.run(ctx, []watched{
		c.watchedSecret(c.options.TLSSecret), c.watchedSecret(c.options.TrustSecret), c.watchedHooks(),
	}, c.once)
}

// Reconcile compares once: what cert-manager issued, what caBundle trusts, the certificate in memory.
func (c *CertManager) Reconcile(ctx context.Context) error {
	_, err := c.compare(ctx, c.once)
	return err
}

func (c *CertManager) once(ctx context.Context) (bool, error) {
	// What was issued is served all the same.
	uncreated := c.create(ctx)
	pending, err := c.serveIssued(ctx, uncreated)
	if uncreated != nil && err == nil {
		return true, uncreated
	}
	return pending, err
}

// serveIssued serves what cert-manager issued. uncreated is why what it takes could not be applied, if that went wrong.
func (c *CertManager) serveIssued(ctx context.Context, uncreated error) (bool, error) {
	h, err := c.readHooks(ctx)
	if err != nil {
		return true, err
	}
	now := c.Clock.Now()
	c.sight.look(h, now)
	issued, problem, err := c.issued(ctx, now)
	if err != nil {
		return true, err
	}
	led, err := c.share(ctx, h, issued, now)
	if err != nil {
		return true, err
	}
	waiting := c.adopt(issued, now)
	ch := c.current()
	late := waiting && !c.trusts(issued, now) && now.Sub(led.since) > c.Settle
	if problem != nil || late || ch != nil && (!c.trusts(ch, now) || overdue(ch, now)) {
		problem = asError(c.diagnose(ctx, h, now))
	} else if f := c.injection(h); f != nil {
		problem = *f
	}
	switch {
	case uncreated != nil && problem != nil:
		problem = fmt.Errorf("%w; also: %w", uncreated, problem)
	case uncreated != nil:
		problem = uncreated
	}
	c.assess(h, led, now, problem)
	return waiting || problem != nil || c.Ready() != nil, problem
}

// share keeps the Secret that cainjector copies: the CA of what was issued, and those that are still in use.
func (c *CertManager) share(ctx context.Context, h hooks, issued *chain, now time.Time) (ledger, error) {
	u := use{now: now, offered: h.mentioned().alive(now), arriving: !c.arrived, keep: c.options.Retire}
	if issued != nil {
		u.needed = issued.roots
	}
	if ch := c.alive(now); ch != nil {
		u.serving = ch.roots
	}
	if len(u.needed)+len(u.serving) == 0 {
		return ledger{}, nil
	}
	secret, err := c.trust.read(ctx)
	if err != nil {
		return ledger{}, err
	}
	var stored ledger
	if secret != nil {
		stored = readLedger(secret)
	} else if secret, err = c.trust.create(ctx); err != nil {
		return ledger{}, err
	}
	if len(stored.trusted) == 0 {
		stored.since = time.Time{}
	}
	if c.remembered != nil {
		u.remembered = c.remembered.trusted
	}
	want, kept := stored.record(u)
	if issued != nil && c.settled(issued, now) {
		want.settled = mark(issued.roots)
	}
	changed, err := c.trust.update(ctx, secret, map[string][]byte{caKey: want.trusted.encode()}, want.annotations())
	if err != nil {
		return ledger{}, err
	}
	if changed {
		c.writes.Add(1)
		c.Log.Info("the CAs to trust were written", "secret", c.trust.key.String(), "authorities", len(want.trusted), "kept", kept)
	}
	c.remembered, c.arrived = &want, true
	return want, nil
}

// adopt serves what was issued, now or once every API server trusts it. It reports whether that has to be waited for.
func (c *CertManager) adopt(issued *chain, now time.Time) bool {
	if issued == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.chain != nil && c.chain.same(issued):
		return false
	case c.chain == nil, c.chain.expired(now), c.settled(issued, now):
		c.put(issued)
		return false
	}
	return true
}

// overdue reports whether the certificate should have been renewed by now: cert-manager does after two thirds of its
// life, unless told otherwise.
func overdue(ch *chain, now time.Time) bool {
	life := ch.leaf.NotAfter.Sub(ch.leaf.NotBefore)
	return ch.leaf.NotAfter.Sub(now) < life/10
}
