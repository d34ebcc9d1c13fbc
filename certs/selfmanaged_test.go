package certs

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestTheAPIServerTrustsTheServingCertificate(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	s := selfManaged(c, clock)
	if err := s.Ready(); err == nil {
		t.Error("ready before the first comparison")
	}
	if _, err := s.GetCertificate(nil); err == nil {
		t.Error("a certificate before the first comparison")
	}
	reconcile(t, s)
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
	for i, bundle := range bundles(t, c) {
		for _, name := range []string{host, host + ".cluster.local"} {
			if err := shake(t.Context(), s, bundle, name, clock.Now()); err != nil {
				t.Errorf("webhook %d, %s: %v", i, name, err)
			}
		}
		if err := shake(t.Context(), s, bundle, "kubernetes.default.svc", clock.Now()); err == nil {
			t.Error("the certificate is good for another name")
		}
		if err := shake(t.Context(), s, bundle, host, clock.Now().Add(-24*time.Hour)); err != nil {
			t.Errorf("an API server whose clock is a day behind: %v", err)
		}
	}
	if st := s.State(); st.Trust != Trusted || !st.NotAfter.Equal(start.Add(DefaultServingLifetime)) || st.Rotations != 0 {
		t.Errorf("state: %+v", st)
	}
}

func TestTheAuthorityIsGoodForNothingElse(t *testing.T) {
	a, err := newAuthority(rand.Reader, start, []string{host}, DefaultAuthorityLifetime)
	if err != nil {
		t.Fatal(err)
	}
	ch, err := a.issue(rand.Reader, start, []string{"kubernetes.default.svc"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ch.leaf.Verify(x509.VerifyOptions{Roots: bundle{a.cert}.pool(), DNSName: "kubernetes.default.svc", CurrentTime: start})
	if err == nil {
		t.Error("a certificate of the authority for another name verifies")
	}
}

func TestReplicasThatStartAtOnceShareOneAuthority(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	replicas := make([]*SelfManaged, 8)
	var wg sync.WaitGroup
	errs := make([]error, len(replicas))
	for i := range replicas {
		replicas[i] = selfManaged(c, clock)
		wg.Go(func() {
			// A replica that lost every race tries again, as Start does.
			for range 10 {
				if errs[i] = replicas[i].Reconcile(t.Context()); errs[i] == nil {
					break
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	bundle := bundles(t, c)[0]
	if n := len(parseBundle(bundle)); n != 1 {
		t.Errorf("%d authorities are trusted", n)
	}
	for i, s := range replicas {
		if err := shake(t.Context(), s, bundle, host, clock.Now()); err != nil {
			t.Errorf("replica %d: %v", i, err)
		}
		if err := s.Ready(); err != nil {
			t.Errorf("replica %d: %v", i, err)
		}
	}
}

func TestTheSecretIsMadeEmptyAndThenFilled(t *testing.T) {
	var seen []string
	funcs := interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return errors.New("a POST cannot be limited by name")
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			err := c.Apply(ctx, o, opts...)
			s := &corev1.Secret{}
			if getErr := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "olmgate-ca"}, s); getErr != nil {
				return getErr
			}
			seen = append(seen, fmt.Sprintf("applied with %d keys", len(s.Data)))
			return err
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			seen = append(seen, fmt.Sprintf("updated a read version: %v", o.GetResourceVersion() != ""))
			return c.Update(ctx, o, opts...)
		},
	}
	c := cluster(funcs)
	reconcile(t, selfManaged(c, clocktesting.NewFakeClock(start)))
	if got := strings.Join(seen, "; "); got != "applied with 0 keys; updated a read version: true" {
		t.Error(got)
	}
	// A replica that read before the Secret was there, and applies after it was filled.
	before := secret(t, c, "olmgate-ca")
	o := ownSecret{client: c, key: client.ObjectKeyFromObject(before)}
	after, err := o.create(t.Context())
	if err != nil || len(after.Data) != len(before.Data) {
		t.Errorf("%d keys of %d are left, %v", len(after.Data), len(before.Data), err)
	}
}

func TestAWipedBundleIsWrittenAgain(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	s := selfManaged(c, clock)
	reconcile(t, s)
	want := bundles(t, c)[0]
	config := configuration(t, c)
	config.Webhooks[1].ClientConfig.CABundle = nil
	update(t, c, config)
	reconcile(t, s)
	for i, got := range bundles(t, c) {
		if string(got) != string(want) {
			t.Errorf("webhook %d has %q", i, got)
		}
	}
}

func TestTheSameAuthorityIsPutBack(t *testing.T) {
	for name, spoil := range map[string]func(*testing.T, client.Client, *corev1.Secret){
		"deleted": func(t *testing.T, c client.Client, s *corev1.Secret) {
			if err := c.Delete(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		},
		"damaged": func(t *testing.T, c client.Client, s *corev1.Secret) {
			s.Data[corev1.TLSCertKey] = []byte("rubbish")
			update(t, c, s)
		},
		"with the key of another": func(t *testing.T, c client.Client, s *corev1.Secret) {
			s.Data[corev1.TLSPrivateKeyKey] = newTestAuthority(t, start).keyPEM
			update(t, c, s)
		},
		"emptied": func(t *testing.T, c client.Client, s *corev1.Secret) {
			s.Data, s.Annotations = nil, nil
			update(t, c, s)
		},
		"without the CAs to trust": func(t *testing.T, c client.Client, s *corev1.Secret) {
			delete(s.Data, caKey)
			update(t, c, s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakeClock(start)
			c := cluster(interceptor.Funcs{})
			s, other := selfManaged(c, clock), selfManaged(c, clock)
			reconcile(t, s)
			reconcile(t, other)
			before, trusted := secret(t, c, "olmgate-ca"), bundles(t, c)[0]
			served, _ := s.GetCertificate(nil)
			spoil(t, c, before.DeepCopy())
			// One that starts meanwhile waits for those that know the authority.
			late := selfManaged(c, clock)
			if err := late.Reconcile(t.Context()); name != "without the CAs to trust" && !errors.Is(err, errOthers) {
				t.Errorf("a replica that does not know the authority: %v", err)
			}
			reconcile(t, s)
			after := secret(t, c, "olmgate-ca")
			for _, key := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey, caKey} {
				if string(after.Data[key]) != string(before.Data[key]) {
					t.Errorf("%s differs", key)
				}
			}
			reconcile(t, other)
			reconcile(t, late)
			if got := bundles(t, c)[0]; string(got) != string(trusted) {
				t.Error("caBundle differs")
			}
			if now, _ := s.GetCertificate(nil); now != served {
				t.Error("another certificate is served")
			}
			for i, r := range []*SelfManaged{s, other, late} {
				if err := errors.Join(r.Ready(), shake(t.Context(), r, trusted, host, clock.Now())); err != nil {
					t.Errorf("replica %d: %v", i, err)
				}
			}
		})
	}
}

func TestAnAuthorityThatNobodyHasIsMadeAnew(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	old := selfManaged(c, clock)
	reconcile(t, old)
	if err := c.Delete(t.Context(), secret(t, c, "olmgate-ca")); err != nil {
		t.Fatal(err)
	}
	s := selfManaged(c, clock)
	if err := s.Reconcile(t.Context()); !errors.Is(err, errOthers) || s.Ready() == nil {
		t.Fatalf("it does not wait for others: %v", err)
	}
	clock.Step(restoreTime)
	reconcile(t, s)
	if err := s.Ready(); err == nil || !strings.Contains(err.Error(), "not every API server may know yet") {
		t.Errorf("ready before every API server can know: %v", err)
	}
	// The old replica, which was held up, is still trusted, and so is the new one.
	for i, r := range []*SelfManaged{old, s} {
		if err := shake(t.Context(), r, bundles(t, c)[0], host, clock.Now()); err != nil {
			t.Errorf("replica %d: %v", i, err)
		}
	}
	clock.Step(DefaultSettle)
	reconcile(t, s)
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
	clock.Step(DefaultServingLifetime + DefaultServingLifetime/10 + time.Hour)
	reconcile(t, s)
	if n := len(parseBundle(bundles(t, c)[0])); n != 1 {
		t.Errorf("%d authorities are trusted in the end", n)
	}
}

// rotate asks for a new authority.
func rotate(t *testing.T, c client.Client, value string) {
	t.Helper()
	s := secret(t, c, "olmgate-ca")
	s.Annotations[RotateAnnotation] = value
	update(t, c, s)
}

func TestARotationOfTheAuthorityOverlaps(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	s, other := selfManaged(c, clock), selfManaged(c, clock)
	all := func() {
		t.Helper()
		reconcile(t, s)
		reconcile(t, other)
	}
	all()
	first := parseBundle(bundles(t, c)[0])
	issuer := func(s *SelfManaged) string { return s.current().leaf.Issuer.CommonName }
	rotate(t, c, "now")
	all()
	both := parseBundle(bundles(t, c)[0])
	if len(both) != 2 || !both.has(first[0]) || issuer(s) != first[0].Subject.CommonName {
		t.Fatalf("%d authorities are trusted, and that of %s serves", len(both), issuer(s))
	}
	clock.Step(DefaultSettle - time.Second)
	all()
	if issuer(s) != first[0].Subject.CommonName {
		t.Error("the new authority signs before every API server can know it")
	}
	clock.Step(time.Second)
	all()
	if issuer(s) != both[1].Subject.CommonName || issuer(other) != issuer(s) {
		t.Errorf("%s and %s serve", issuer(s), issuer(other))
	}
	if st := s.State(); st.Rotations != 1 || st.Changes != 1 || st.Trust != Trusted {
		t.Errorf("state: %+v", st)
	}
	if sec := secret(t, c, "olmgate-ca"); sec.Data[nextKeyKey] != nil || sec.Annotations[rotatedAnnotation] != "now" {
		t.Errorf("keys %v, annotations %v", sec.Data, sec.Annotations)
	}
	all()
	if n := len(parseBundle(bundles(t, c)[0])); n != 2 {
		t.Errorf("the old authority left at once, %d are trusted; or the request was granted twice", n)
	}
	clock.Step(DefaultServingLifetime + DefaultServingLifetime/10 + time.Minute)
	all()
	if last := parseBundle(bundles(t, c)[0]); len(last) != 1 || !last.has(both[1]) {
		t.Errorf("%d authorities are trusted in the end", len(last))
	}
	rotate(t, c, "again")
	all()
	if n := len(parseBundle(bundles(t, c)[0])); n != 2 {
		t.Error("another value asks for nothing")
	}
}

func TestAnAuthorityInTheLastTenthOfItsLifeIsReplaced(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	s := selfManaged(c, clock)
	reconcile(t, s)
	first := secret(t, c, "olmgate-ca").Data[corev1.TLSCertKey]
	clock.Step(DefaultAuthorityLifetime - DefaultAuthorityLifetime/10 + time.Hour)
	reconcile(t, s)
	clock.Step(DefaultSettle)
	reconcile(t, s)
	if string(secret(t, c, "olmgate-ca").Data[corev1.TLSCertKey]) == string(first) {
		t.Error("it is the same")
	}
	if err := errors.Join(s.Ready(), shake(t.Context(), s, bundles(t, c)[0], host, clock.Now())); err != nil {
		t.Error(err)
	}
}

func TestAnAuthorityOfNoUseIsReplacedAtOnce(t *testing.T) {
	for name, spoil := range map[string]func(*clocktesting.FakeClock){
		"expired, on a machine that slept": func(clock *clocktesting.FakeClock) { clock.Step(DefaultAuthorityLifetime + time.Hour) },
		"of a clock that went far back":    func(clock *clocktesting.FakeClock) { clock.Step(-2 * backdate) },
	} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakeClock(start)
			c := cluster(interceptor.Funcs{})
			s, other := selfManaged(c, clock), selfManaged(c, clock)
			reconcile(t, s)
			reconcile(t, other)
			spoil(clock)
			for range 3 {
				_ = s.Reconcile(t.Context())
				_ = other.Reconcile(t.Context())
				clock.Step(restoreTime)
			}
			for i, r := range []*SelfManaged{s, other} {
				if err := errors.Join(r.Ready(), r.Reconcile(t.Context()), shake(t.Context(), r, bundles(t, c)[0], host, clock.Now())); err != nil {
					t.Errorf("replica %d: %v", i, err)
				}
			}
		})
	}
}

func TestAHandshakeRenewsAnOldCertificate(t *testing.T) {
	for name, tc := range map[string]struct {
		after time.Duration
		renew bool
	}{
		"a day later it is the same":           {24 * time.Hour, false},
		"in the last third it is another":      {DefaultServingLifetime - DefaultServingLifetime/3, true},
		"after a sleep past its end it is too": {2 * DefaultServingLifetime, true},
	} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakeClock(start)
			c := cluster(interceptor.Funcs{})
			s := selfManaged(c, clock)
			reconcile(t, s)
			first, _ := s.GetCertificate(nil)
			clock.Step(tc.after)
			got, err := s.GetCertificate(nil)
			if err != nil {
				t.Fatal(err)
			}
			if renewed := got != first; renewed != tc.renew {
				t.Errorf("renewed: %v", renewed)
			}
			if err := errors.Join(s.Ready(), shake(t.Context(), s, bundles(t, c)[0], host, clock.Now())); err != nil {
				t.Error(err)
			}
			if again, _ := s.GetCertificate(nil); again != got {
				t.Error("every handshake makes a certificate")
			}
		})
	}
}

func TestWhatAnotherSourceServesStaysTrusted(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	foreign := newTestAuthority(t, start)
	setBundles(t, c, foreign.certPEM)
	s := selfManaged(c, clock)
	_ = s.Reconcile(t.Context())
	clock.Step(restoreTime)
	reconcile(t, s)
	trusted := parseBundle(bundles(t, c)[0])
	if len(trusted) != 2 || !trusted.has(foreign.cert) {
		t.Errorf("%d authorities are trusted", len(trusted))
	}
	if s.Ready() == nil {
		t.Error("ready before every API server can know")
	}
	clock.Step(DefaultSettle)
	reconcile(t, s)
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
}

func TestAnotherControllerThatWritesCABundleIsNotFought(t *testing.T) {
	c := cluster(interceptor.Funcs{})
	config := configuration(t, c)
	config.Annotations = map[string]string{"cert-manager.io/inject-ca-from": "a/b"}
	update(t, c, config)
	s := selfManaged(c, clocktesting.NewFakeClock(start))
	if err := s.Reconcile(t.Context()); err == nil || !strings.Contains(err.Error(), "remove the annotation") {
		t.Errorf("error: %v", err)
	}
	if got := bundles(t, c)[0]; len(got) > 0 {
		t.Errorf("caBundle: %s", got)
	}
}

func TestErrorsSayWhatToAllow(t *testing.T) {
	forbidden := errors.New("forbidden")
	for name, tc := range map[string]struct {
		funcs interceptor.Funcs
		want  string
	}{
		"the webhooks cannot be read": {interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return forbidden
		}}, "read ValidatingWebhookConfiguration olmgate: forbidden; allow get, list and watch of it"},
		"the Secret cannot be read": {interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*corev1.Secret); ok {
				return forbidden
			}
			return c.Get(ctx, key, o, opts...)
		}}, "read Secret olmgate-system/olmgate-ca: forbidden; allow get, list and watch of it"},
		"the Secret cannot be created": {interceptor.Funcs{Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			return forbidden
		}}, "create Secret olmgate-system/olmgate-ca: forbidden; allow create and patch of it by name"},
		"the Secret cannot be filled": {interceptor.Funcs{Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
			return forbidden
		}}, "write Secret olmgate-system/olmgate-ca: forbidden; allow update of it"},
		"the webhooks cannot be patched": {interceptor.Funcs{Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return forbidden
		}}, "write caBundle into ValidatingWebhookConfiguration olmgate: forbidden; allow patch of it"},
	} {
		t.Run(name, func(t *testing.T) {
			s := selfManaged(cluster(tc.funcs), clocktesting.NewFakeClock(start))
			err := s.Reconcile(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) || !errors.Is(err, forbidden) {
				t.Errorf("error: %v", err)
			}
			if ready := s.Ready(); ready == nil || !strings.Contains(ready.Error(), tc.want) {
				t.Errorf("ready: %v", ready)
			}
		})
	}
}

func TestAnAPIServerThatGoesAwayLaterIsNoReasonToBeUnready(t *testing.T) {
	away := false
	c := cluster(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
		if away {
			return fmt.Errorf("connection refused")
		}
		return c.Get(ctx, key, obj, opts...)
	}})
	s := selfManaged(c, clocktesting.NewFakeClock(start))
	reconcile(t, s)
	away = true
	if err := s.Reconcile(t.Context()); err == nil {
		t.Error("no error")
	}
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
}

func TestWithoutAConfigurationNothingNeedsToTrust(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := bare(interceptor.Funcs{})
	s := selfManaged(c, clock)
	reconcile(t, s)
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
	rotate(t, c, "1")
	reconcile(t, s)
	clock.Step(DefaultSettle)
	reconcile(t, s)
	if st := s.State(); st.Changes != 1 {
		t.Errorf("an authority is not replaced while nobody calls: %+v", st)
	}
}
