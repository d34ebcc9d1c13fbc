package certs

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// The simulations below hold several replicas and API servers that may be behind by up to the settle time against each
// other, and do to them at random what happens to clusters. After every step, each replica that takes requests must
// serve a certificate that verifies under every caBundle that an API server may still go by.

var simulations = flag.Int("simulations", 3, "how many worlds each simulation tries")

// simulatedSteps is how many things happen in each.
const simulatedSteps = 60

// simulated is a replica of a source.
type simulated interface {
	Source
	Reconcile(context.Context) error
	current() *chain
}

// version is a caBundle that was in the API server from a time on.
type version struct {
	from time.Time
	text []byte
	// wiped is what somebody else did to it: until it is mended nobody can do right by it.
	wiped bool
}

// simulation is the world of one run.
type simulation struct {
	t        *testing.T
	clock    *clocktesting.FakeClock
	client   client.WithWatch
	random   *rand.Rand
	replicas []simulated
	fresh    func() simulated
	history  []version
	log      []string
	// settle is how far API servers may be behind.
	settle time.Duration
}

func newSimulation(t *testing.T, seed uint64) *simulation {
	return &simulation{
		t: t, clock: clocktesting.NewFakeClock(start), client: cluster(interceptor.Funcs{}), settle: DefaultSettle,
		random: rand.New(rand.NewPCG(seed, 0)),
	}
}

func (s *simulation) note(format string, args ...any) {
	s.log = append(s.log, s.clock.Now().Format(time.DateTime)+" "+fmt.Sprintf(format, args...))
}

// observe adds what the API server holds by now to what API servers may go by.
func (s *simulation) observe(wiped bool) {
	text := bundles(s.t, s.client)[0]
	if n := len(s.history); n > 0 && string(s.history[n-1].text) == string(text) {
		return
	}
	s.history = append(s.history, version{s.clock.Now(), text, wiped})
	s.note("caBundle: %s", describe(text))
}

func describe(text []byte) string {
	var names []string
	for _, cert := range parseBundle(text) {
		names = append(names, fmt.Sprintf("%x", cert.SerialNumber.Bytes()[:2]))
	}
	return strings.Join(names, " ")
}

// check is the property.
func (s *simulation) check() {
	s.t.Helper()
	now := s.clock.Now()
	for i, v := range s.history {
		over := i+1 < len(s.history) && now.Sub(s.history[i+1].from) >= s.settle
		if over || v.wiped {
			continue
		}
		for n, r := range s.replicas {
			ch := r.current()
			if r.Ready() != nil || ch == nil {
				continue
			}
			if err := ch.verify(parseBundle(v.text), host, now); err != nil {
				s.t.Fatalf("%s\nreplica %d serves a certificate of %x, the caBundle since %s is %s: %v", strings.Join(s.log, "\n"),
					n, ch.roots[0].SerialNumber.Bytes()[:2], v.from.Format(time.DateTime), describe(v.text), err)
			}
		}
	}
}

// react lets a replica compare.
func (s *simulation) react(n int) {
	err := s.replicas[n].Reconcile(s.t.Context())
	s.note("replica %d: %v", n, err)
	s.observe(false)
	_, _ = s.replicas[n].GetCertificate(nil)
	s.check()
}

// reactAll is what watches bring about.
func (s *simulation) reactAll() {
	for _, n := range s.random.Perm(len(s.replicas)) {
		s.react(n)
	}
}

func (s *simulation) restart(n int) {
	s.note("replica %d restarts", n)
	s.replicas[n] = s.fresh()
}

// elapse lets everybody look now and then, as they do, while a longer time goes by.
func (s *simulation) elapse(total, step time.Duration) {
	for end := s.clock.Now().Add(total); s.clock.Now().Before(end); {
		s.clock.Step(step)
		s.reactAll()
	}
}

// wipe is somebody else writing caBundle.
func (s *simulation) wipe() {
	s.note("caBundle is wiped")
	setBundles(s.t, s.client, nil)
	s.observe(true)
}

// ready is whether all come to rest.
func (s *simulation) rest() {
	s.t.Helper()
	s.elapse(5*s.settle, s.settle/5)
	for n, r := range s.replicas {
		if err := r.Reconcile(s.t.Context()); err != nil {
			s.t.Fatalf("%s\nreplica %d does not come to rest: %v", strings.Join(s.log, "\n"), n, err)
		}
		if err := r.Ready(); err != nil {
			s.t.Fatalf("%s\nreplica %d does not become ready: %v", strings.Join(s.log, "\n"), n, err)
		}
	}
}

func (s *simulation) dropSecret(name string) {
	old := &corev1.Secret{}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	if err := s.client.Get(s.t.Context(), key, old); apierrors.IsNotFound(err) {
		return
	}
	s.note("Secret %s is deleted", name)
	if err := s.client.Delete(s.t.Context(), old); err != nil {
		s.t.Fatal(err)
	}
}

func (s *simulation) damageSecret(name string) {
	old := &corev1.Secret{}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	if err := s.client.Get(s.t.Context(), key, old); err != nil || len(old.Data) == 0 {
		return
	}
	switch s.random.IntN(3) {
	case 0:
		old.Data = nil
	case 1:
		old.Annotations = nil
		old.Data[caKey] = nil
	default:
		for _, k := range []string{caKey, corev1.TLSCertKey, corev1.TLSPrivateKeyKey, nextCertKey, nextKeyKey} {
			if s.random.IntN(2) == 0 && old.Data[k] != nil {
				old.Data[k] = []byte("rubbish")
			}
		}
	}
	s.note("Secret %s is damaged", name)
	update(s.t, s.client, old)
}

func TestSimulatedSelfManagedRotationsFailNoRequest(t *testing.T) {
	for seed := range *simulations {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := newSimulation(t, uint64(seed))
			s.fresh = func() simulated { return selfManaged(s.client, s.clock) }
			s.replicas = []simulated{s.fresh(), s.fresh(), s.fresh()}
			s.observe(true) // what is there before olmgate trusts nothing
			s.reactAll()
			for i := range simulatedSteps {
				switch s.random.IntN(13) {
				case 0, 1, 2, 3:
					s.clock.Step(time.Duration(s.random.Int64N(int64(s.settle))))
					s.check()
				case 4, 5, 6:
					s.react(s.random.IntN(len(s.replicas)))
				case 7:
					// Not the last that knows the authority: the others have looked by then, as watches have them do.
					s.reactAll()
					s.restart(s.random.IntN(len(s.replicas)))
				case 8:
					s.note("a rotation is asked for")
					old := &corev1.Secret{}
					if s.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "olmgate-ca"}, old) == nil {
						old.Annotations = map[string]string{RotateAnnotation: fmt.Sprint(i), rotatedAnnotation: old.Annotations[rotatedAnnotation], sinceAnnotation: old.Annotations[sinceAnnotation]}
						update(t, s.client, old)
					}
				case 9:
					s.dropSecret("olmgate-ca")
				case 10:
					s.damageSecret("olmgate-ca")
				case 11:
					s.reactAll()
					s.wipe()
					s.reactAll()
				case 12:
					s.note("time goes by")
					s.elapse(time.Duration(s.random.Int64N(int64(60*24*time.Hour))), 5*24*time.Hour)
				}
			}
			s.rest()
		})
	}
}

func TestSimulatedCertManagerRotationsFailNoRequest(t *testing.T) {
	for seed := range *simulations {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := newSimulation(t, uint64(seed))
			cm := newFakeCertManager(t, s.client, s.clock)
			s.fresh = func() simulated { return cm.source() }
			s.replicas = []simulated{s.fresh(), s.fresh(), s.fresh()}
			s.observe(true)
			cm.rotate()
			inject := func() { cm.inject(); s.observe(false); s.check() }
			s.reactAll()
			inject()
			s.reactAll()
			for range simulatedSteps {
				switch s.random.IntN(12) {
				case 0, 1, 2:
					s.clock.Step(time.Duration(s.random.Int64N(int64(s.settle))))
					s.check()
				case 3, 4:
					s.react(s.random.IntN(len(s.replicas)))
				case 5, 6:
					s.note("cainjector looks")
					inject()
				case 7:
					s.reactAll()
					inject()
					s.restart(s.random.IntN(len(s.replicas)))
				case 8:
					if s.random.IntN(2) == 0 {
						s.note("cert-manager renews")
						cm.renew()
					} else {
						s.note("cert-manager issues from another CA")
						cm.rotate()
					}
				case 9:
					if s.random.IntN(2) == 0 {
						s.dropSecret(trustSecretName)
					} else {
						s.damageSecret(trustSecretName)
					}
					s.reactAll()
				case 10:
					s.dropSecret(tlsSecretName)
					s.reactAll()
					cm.rotate()
				case 11:
					s.note("time goes by")
					inject()
					s.elapse(s.settle*2, s.settle/3)
					inject()
					s.elapse(s.settle*2, s.settle/3)
					s.elapse(time.Duration(s.random.Int64N(int64(40*24*time.Hour))), 4*24*time.Hour)
					cm.renew()
				}
			}
			s.reactAll()
			inject()
			s.rest()
			inject()
			s.rest()
		})
	}
}
