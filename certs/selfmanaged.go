package certs

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DefaultInterval is how often SelfManaged compares the Secret and the ValidatingWebhookConfiguration with what they
// should be.
const DefaultInterval = 10 * time.Second

// SelfManagedOptions are what SelfManaged needs.
type SelfManagedOptions struct {
	// Client reads and writes the Secret and the ValidatingWebhookConfiguration. It must not cache, which would take
	// the right to list all Secrets.
	Client client.Client
	// Namespace of the Secret and the Service; "" means olmgate-system.
	Namespace string
	// Secret holds the authority; "" means olmgate-ca.
	Secret string
	// Service is the one that the webhooks name; "" means olmgate-webhook.
	Service string
	// WebhookConfiguration is the ValidatingWebhookConfiguration whose webhooks get the caBundle; "" means olmgate.
	WebhookConfiguration string
	// Interval between two comparisons; 0 means DefaultInterval.
	Interval time.Duration
	// Clock; nil means the real one.
	Clock clock.WithTicker
	// Rand; nil means crypto/rand.
	Rand io.Reader
	// Log; nil means slog.Default().
	Log *slog.Logger
}

// SelfManaged keeps an authority in a Secret that all replicas share, signs a serving certificate per replica that
// never leaves memory, and writes the authority into the ValidatingWebhookConfiguration, again when something wipes it.
type SelfManaged struct {
	SelfManagedOptions
	names []string

	mu        sync.RWMutex
	authority *authority
	serving   *tls.Certificate
	// problem is why the last comparison failed before the first success, nil afterwards.
	problem error
}

// NewSelfManaged fills in the defaults. Nothing is read before Start.
func NewSelfManaged(o SelfManagedOptions) *SelfManaged {
	def := func(s *string, d string) {
		if *s == "" {
			*s = d
		}
	}
	def(&o.Namespace, "olmgate-system")
	def(&o.Secret, "olmgate-ca")
	def(&o.Service, "olmgate-webhook")
	def(&o.WebhookConfiguration, "olmgate")
	if o.Interval == 0 {
		o.Interval = DefaultInterval
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	host := o.Service + "." + o.Namespace + ".svc"
	return &SelfManaged{
		SelfManagedOptions: o,
		names:              []string{host, host + ".cluster.local"},
		problem:            errors.New("the serving certificate has not been made yet"),
	}
}

// NeedLeaderElection implements Source.
func (*SelfManaged) NeedLeaderElection() bool { return false }

// Start implements Source. Errors do not end it: the API server may be away for a while.
func (s *SelfManaged) Start(ctx context.Context) error {
	ticker := s.Clock.NewTicker(s.Interval)
	defer ticker.Stop()
	for {
		if err := s.Reconcile(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error("the serving certificate is not in order, trying again", "error", err, "after", s.Interval)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// Reconcile compares once: the authority in the Secret, the caBundle of the webhooks, the certificate in memory. The
// caBundle comes first, so that a certificate is not served before the API server can trust it.
func (s *SelfManaged) Reconcile(ctx context.Context) error {
	a, bundle, err := s.sharedAuthority(ctx)
	if err == nil {
		err = s.trust(ctx, bundle)
		s.mu.Lock()
		if err == nil || s.authority == nil { // better one that is not trusted yet than none
			s.authority = a
		}
		s.mu.Unlock()
		if _, issueErr := s.current(); issueErr != nil {
			err = errors.Join(err, issueErr)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || s.problem != nil {
		s.problem = err
	}
	return err
}

// GetCertificate implements Source. It looks at the clock at each handshake: a machine that slept wakes up with a
// certificate that no timer renewed.
func (s *SelfManaged) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return s.current()
}

// current is the serving certificate, a new one when it is missing, old, or of another authority.
func (s *SelfManaged) current() (*tls.Certificate, error) {
	now := s.Clock.Now()
	s.mu.RLock()
	serving, fresh := s.serving, s.fresh(now)
	s.mu.RUnlock()
	if fresh {
		return serving, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fresh(now) {
		return s.serving, nil
	}
	if s.authority == nil {
		return nil, errors.New("no serving certificate: the authority has not been read yet")
	}
	serving, err := s.authority.issue(s.Rand, now, s.names)
	if err != nil {
		return nil, fmt.Errorf("renew the serving certificate: %w", err)
	}
	s.serving = serving
	s.Log.Info("a serving certificate was made", "names", s.names, "notAfter", serving.Leaf.NotAfter)
	return serving, nil
}

// fresh reports whether the certificate in memory will do. The caller holds the lock.
func (s *SelfManaged) fresh(now time.Time) bool {
	return s.serving != nil && s.authority != nil &&
		now.Before(s.serving.Leaf.NotAfter.Add(-servingRenew)) && !now.Before(s.serving.Leaf.NotBefore) &&
		string(s.serving.Leaf.RawIssuer) == string(s.authority.cert.RawSubject)
}

// Ready implements Source. Once everything was in order, an API server that is away does not make it unready.
func (s *SelfManaged) Ready() error {
	s.mu.RLock()
	problem := s.problem
	s.mu.RUnlock()
	if problem != nil {
		return fmt.Errorf("the serving certificate is not ready: %w", problem)
	}
	_, err := s.current()
	return err
}
