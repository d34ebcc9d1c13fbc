package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// DefaultInterval is how often a source compares what it finds in the API server with what it should be. It looks
	// at once when a watch says that something changed; this is for what a watch misses.
	DefaultInterval = 10 * time.Second
	// DefaultSettle is how long every API server takes at most to learn of a changed caBundle.
	DefaultSettle = 30 * time.Second
)

// Cluster says where a source finds what it works with.
type Cluster struct {
	// Client reads, writes and watches a few objects by name. It must not cache, which would take the right to list
	// all Secrets.
	Client client.WithWatch
	// Namespace of the Secrets and the Service; "" means olmgate-system.
	Namespace string
	// Service is the one that the webhooks name; "" means olmgate-webhook.
	Service string
	// WebhookConfiguration is the ValidatingWebhookConfiguration with the caBundle; "" means olmgate.
	WebhookConfiguration string
	// Settle is how long the caBundle must have trusted an authority before a certificate of it replaces one of
	// another; 0 means DefaultSettle.
	Settle time.Duration
	// Interval between two comparisons when nothing seems to change; 0 means DefaultInterval.
	Interval time.Duration
	// Clock; nil means the real one.
	Clock clock.WithTicker
	// Log; nil means slog.Default().
	Log *slog.Logger
}

func (c *Cluster) setDefaults() {
	orDefault(&c.Namespace, "olmgate-system")
	orDefault(&c.Service, "olmgate-webhook")
	orDefault(&c.WebhookConfiguration, "olmgate")
	orDefault(&c.Settle, DefaultSettle)
	orDefault(&c.Interval, DefaultInterval)
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
}

// host is the name by which the API server calls.
func (c *Cluster) host() string { return c.Service + "." + c.Namespace + ".svc" }

// names are what a serving certificate is made for.
func (c *Cluster) names() []string { return []string{c.host(), c.host() + ".cluster.local"} }

func orDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// core is what the sources that work with the API server have in common.
type core struct {
	Cluster
	holder

	// reconciling lets one comparison run at a time. It guards what follows.
	reconciling sync.Mutex
	sight       sight
	// writes counts what was written.
	writes atomic.Int64
}

func newCore(c Cluster) core {
	c.setDefaults()
	return core{Cluster: c, sight: sight{settle: c.Settle}, holder: holder{
		clock: c.Clock, log: c.Log,
		problem: errors.New("nothing was read from the API server yet"),
	}}
}

// NeedLeaderElection implements Source.
func (*core) NeedLeaderElection() bool { return false }

// compare calls once until no other replica was faster. once also reports whether something is under way.
func (c *core) compare(ctx context.Context, once func(context.Context) (bool, error)) (bool, error) {
	c.reconciling.Lock()
	defer c.reconciling.Unlock()
	var pending bool
	var err error
	for range attempts {
		if pending, err = once(ctx); !lostRace(err) {
			break
		}
	}
	if err != nil {
		c.fail(err)
	}
	return pending, err
}

// trusts reports whether the API server, by what it was told last, verifies the chain.
func (c *core) trusts(ch *chain, now time.Time) bool {
	return !c.sight.called || ch.verify(c.sight.trusted, c.host(), now) == nil
}

// settled reports whether every API server verifies the chain by now.
func (c *core) settled(ch *chain, now time.Time) bool {
	return c.sight.free(now) || ch.verify(c.sight.settled(now), c.host(), now) == nil
}

// rivals are authorities in the caBundle other than those of the chain: another replica may serve a certificate of one
// of them.
func rivals(h hooks, ch *chain, now time.Time) bool {
	for _, cert := range h.mentioned().alive(now) {
		if !ch.roots.has(cert) {
			return true
		}
	}
	return false
}

// assess notes whether the certificate that is served is trusted, and whether that makes the replica ready. before is
// what was read before anything was written; err is what went wrong with it, if anything did.
func (c *core) assess(before hooks, led ledger, now time.Time, err error) {
	ch := c.current()
	if ch == nil {
		c.fail(err)
		return
	}
	if !c.started() {
		// A replica that comes up where another has seen the authority trusted for long, or where nobody else can be
		// serving anything better, need not wait.
		known := led.settled == mark(ch.roots) && ch.verify(before.trusted(), c.host(), now) == nil
		c.begin(now, rivals(before, ch, now) && !known)
	}
	if err == nil {
		err = fmt.Errorf("the caBundle of ValidatingWebhookConfiguration %s does not trust the serving certificate yet", c.WebhookConfiguration)
	}
	c.judge(now, c.trusts(ch, now), c.settled(ch, now), err)
}

// GetCertificate implements Source.
func (c *core) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.serve()
}

// watched are the objects of which every change starts a comparison.
type watched struct {
	object    client.Object
	list      client.ObjectList
	namespace string
	name      string
}

func (c *core) watchedSecret(name string) watched {
	return watched{&corev1.Secret{}, &corev1.SecretList{}, c.Namespace, name}
}

func (c *core) watchedHooks() watched {
	return watched{&admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfigurationList{}, "", c.WebhookConfiguration}
}

// run compares until the context ends: at the start, when something changes, and at intervals; sooner when something is
// under way.
func (c *core) run(ctx context.Context, objects []watched, once func(context.Context) (bool, error)) error {
	kick := make(chan struct{}, 1)
	var watches sync.WaitGroup
	for _, o := range objects {
		watches.Go(func() {
			watch(ctx, c.Client, o, c.Log, func() {
				select { // one that waits is enough
				case kick <- struct{}{}:
				default:
				}
			})
		})
	}
	defer watches.Wait()
	said := ""
	// Somebody may write the opposite of what is written here, as fast as this does.
	budget := rate.NewLimiter(rate.Every(c.Interval/2), 20)
	for {
		before := c.writes.Load()
		pending, err := c.compare(ctx, once)
		if ctx.Err() != nil {
			return nil
		}
		now := c.Clock.Now()
		if delay := budget.ReserveN(now, min(int(c.writes.Load()-before), budget.Burst())).DelayFrom(now); delay > 0 {
			c.Log.Warn("what olmgate writes is changed again and again by somebody else: the managedFields of the objects say by whom",
				"validatingWebhookConfiguration", c.WebhookConfiguration, "namespace", c.Namespace, "pause", delay)
			if !c.wait(ctx, delay, nil) {
				return nil
			}
		}
		said = c.say(said, err)
		wait := c.Interval
		if pending || err != nil {
			wait = min(c.Interval, max(c.Settle/10, pause))
		}
		if !c.wait(ctx, wait, kick) || !c.wait(ctx, pause, nil) {
			return nil
		}
	}
}

// pause comes before each comparison: changes often come in pairs.
const pause = 100 * time.Millisecond

// wait is false when the context ended.
func (c *core) wait(ctx context.Context, d time.Duration, kick <-chan struct{}) bool {
	timer := c.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
	case <-kick:
	}
	return true
}

// say logs a problem once, not each time it is found again.
func (c *core) say(said string, err error) string {
	switch {
	case err == nil && said != "":
		c.Log.Info("the serving certificate is in order again")
		return ""
	case err == nil:
		return ""
	case err.Error() != said:
		c.Log.Error("the serving certificate is not in order; it is looked at again until it is", "error", err)
	}
	return err.Error()
}
