package certs

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const host = "olmgate-webhook.olmgate-system.svc"

var start = time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)

// cluster is a fake API server that holds the ValidatingWebhookConfiguration.
func cluster(funcs interceptor.Funcs) client.Client {
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "olmgate"},
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{{Name: "a.olmgate.dev"}, {Name: "b.olmgate.dev"}},
	}
	return fake.NewClientBuilder().WithObjects(config).WithInterceptorFuncs(funcs).Build()
}

func source(c client.Client, clock *clocktesting.FakeClock) *SelfManaged {
	return NewSelfManaged(SelfManagedOptions{Client: c, Clock: clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
}

func reconcile(t *testing.T, s *SelfManaged) {
	t.Helper()
	if err := s.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// bundles are the caBundles of the webhooks.
func bundles(t *testing.T, c client.Client) [][]byte {
	t.Helper()
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "olmgate"}, config); err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, w := range config.Webhooks {
		out = append(out, w.ClientConfig.CABundle)
	}
	return out
}

// shake is a TLS handshake between the source and a client that trusts the bundle, as the API server does it.
func shake(ctx context.Context, s Source, bundle []byte, name string, now time.Time) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_ = tls.Server(conn, &tls.Config{GetCertificate: s.GetCertificate, MinVersion: tls.VersionTLS13, Time: func() time.Time { return now }}).HandshakeContext(ctx)
	}()
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: name, Time: func() time.Time { return now }}}).DialContext(ctx, "tcp", listener.Addr().String())
	if err == nil {
		err = conn.Close()
	}
	// Only what the client makes of it counts: it may be gone before the server has finished writing.
	<-served
	return err
}

func TestTheAPIServerTrustsTheServingCertificate(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	s := source(c, clock)
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
	}
}

func TestTheAuthorityIsGoodForNothingElse(t *testing.T) {
	a, err := newAuthority(rand.Reader, start, []string{host})
	if err != nil {
		t.Fatal(err)
	}
	cert, err := a.issue(rand.Reader, start, []string{"kubernetes.default.svc"})
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	_, err = cert.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "kubernetes.default.svc", CurrentTime: start})
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
		replicas[i] = source(c, clock)
		wg.Go(func() { errs[i] = replicas[i].Reconcile(t.Context()) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	bundle := bundles(t, c)[0]
	for i, s := range replicas {
		if err := shake(t.Context(), s, bundle, host, clock.Now()); err != nil {
			t.Errorf("replica %d: %v", i, err)
		}
	}
}

func TestAWipedBundleIsWrittenAgain(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	s := source(c, clock)
	reconcile(t, s)
	want := bundles(t, c)[0]
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "olmgate"}, config); err != nil {
		t.Fatal(err)
	}
	config.Webhooks[1].ClientConfig.CABundle = nil
	if err := c.Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	reconcile(t, s)
	for i, got := range bundles(t, c) {
		if string(got) != string(want) {
			t.Errorf("webhook %d has %q", i, got)
		}
	}
}

func TestStartComparesAtEachTick(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	compared := make(chan struct{}, 10)
	c := cluster(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
		if _, ok := obj.(*admissionregistrationv1.ValidatingWebhookConfiguration); ok {
			compared <- struct{}{}
		}
		return c.Get(ctx, key, obj, opts...)
	}})
	s := source(c, clock)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Start(ctx) }()
	<-compared
	clock.Step(DefaultInterval)
	<-compared
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAHandshakeRenewsAnOldCertificate(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	s := source(c, clock)
	reconcile(t, s)
	bundle := bundles(t, c)[0]
	first, _ := s.GetCertificate(nil)
	for name, tc := range map[string]struct {
		at    time.Time
		renew bool
	}{
		"a day later it is the same":           {start.Add(24 * time.Hour), false},
		"in the last third it is another":      {start.Add(servingLife - servingRenew), true},
		"after a sleep past its end it is too": {start.Add(2 * servingLife), true},
	} {
		t.Run(name, func(t *testing.T) {
			clock.SetTime(tc.at)
			got, err := s.GetCertificate(nil)
			if err != nil {
				t.Fatal(err)
			}
			if renewed := got != first; renewed != tc.renew {
				t.Errorf("renewed: %v", renewed)
			}
			if err := shake(t.Context(), s, bundle, host, tc.at); err != nil {
				t.Error(err)
			}
			s.serving, first = nil, nil
			clock.SetTime(start)
			if first, err = s.GetCertificate(nil); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestAnAuthorityThatIsNoLongerUsableIsReplaced(t *testing.T) {
	for name, spoil := range map[string]func(*corev1.Secret, *clocktesting.FakeClock){
		"in the last year of its life": func(_ *corev1.Secret, clock *clocktesting.FakeClock) {
			clock.Step(authorityLife - authorityRenew + time.Hour)
		},
		"damaged":                   func(s *corev1.Secret, _ *clocktesting.FakeClock) { s.Data[corev1.TLSCertKey] = []byte("rubbish") },
		"emptied":                   func(s *corev1.Secret, _ *clocktesting.FakeClock) { s.Data = nil },
		"of a clock that went back": func(_ *corev1.Secret, clock *clocktesting.FakeClock) { clock.Step(-48 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakeClock(start)
			c := cluster(interceptor.Funcs{})
			s, other := source(c, clock), source(c, clock)
			reconcile(t, s)
			reconcile(t, other)
			secret := &corev1.Secret{}
			if err := c.Get(t.Context(), client.ObjectKey{Namespace: "olmgate-system", Name: "olmgate-ca"}, secret); err != nil {
				t.Fatal(err)
			}
			before := string(secret.Data[corev1.TLSPrivateKeyKey])
			spoil(secret, clock)
			if err := c.Update(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
			reconcile(t, s)
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
				t.Fatal(err)
			}
			if string(secret.Data[corev1.TLSPrivateKeyKey]) == before {
				t.Error("the key is the same")
			}
			bundle := bundles(t, c)[0]
			if err := shake(t.Context(), s, bundle, host, clock.Now()); err != nil {
				t.Error(err)
			}
			if name == "in the last year of its life" {
				if err := shake(t.Context(), other, bundle, host, clock.Now()); err != nil {
					t.Errorf("a replica that has not seen the new authority is no longer trusted: %v", err)
				}
			}
			reconcile(t, other)
			if err := shake(t.Context(), other, bundle, host, clock.Now()); err != nil {
				t.Errorf("the other replica: %v", err)
			}
		})
	}
}

func TestErrorsSayWhatToAllow(t *testing.T) {
	forbidden := errors.New("forbidden")
	for name, tc := range map[string]struct {
		funcs interceptor.Funcs
		want  string
	}{
		"Secrets cannot be read": {interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return forbidden
		}}, "allow get of Secrets"},
		"Secrets cannot be created": {interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return forbidden
		}}, "allow create of Secrets"},
		"webhooks cannot be patched": {interceptor.Funcs{Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return forbidden
		}}, "allow patch of it"},
	} {
		t.Run(name, func(t *testing.T) {
			s := source(cluster(tc.funcs), clocktesting.NewFakeClock(start))
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
	s := source(c, clocktesting.NewFakeClock(start))
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
	s := source(fake.NewClientBuilder().Build(), clocktesting.NewFakeClock(start))
	reconcile(t, s)
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
}
