package certs

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	host      = "olmgate-webhook.olmgate-system.svc"
	namespace = "olmgate-system"
)

var (
	start  = time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	silent = slog.New(slog.NewTextHandler(io.Discard, nil))
)

// listing is a fake client whose watches do not send what is there already.
type listing struct{ client.WithWatch }

func (listing) IsWatchListSemanticsUnSupported() bool { return true }

// cluster is a fake API server that holds the ValidatingWebhookConfiguration.
func cluster(funcs interceptor.Funcs, objects ...client.Object) client.WithWatch {
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "olmgate"},
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{{Name: "a.olmgate.dev"}, {Name: "b.olmgate.dev"}},
	}
	return bare(funcs, append(objects, config)...)
}

// bare is one that holds the objects only.
func bare(funcs interceptor.Funcs, objects ...client.Object) client.WithWatch {
	byName := func(o client.Object) []string { return []string{o.GetName()} }
	return listing{fake.NewClientBuilder().WithObjects(objects...).WithInterceptorFuncs(funcs).
		WithIndex(&corev1.Secret{}, "metadata.name", byName).
		WithIndex(&admissionregistrationv1.ValidatingWebhookConfiguration{}, "metadata.name", byName).Build()}
}

func selfManaged(c client.WithWatch, clock *clocktesting.FakeClock) *SelfManaged {
	return NewSelfManaged(SelfManagedOptions{Cluster: Cluster{Client: c, Clock: clock, Log: silent}})
}

func reconcile(t *testing.T, s interface{ Reconcile(context.Context) error }) {
	t.Helper()
	if err := s.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func secretObject() *corev1.Secret { return &corev1.Secret{} }

func secret(t *testing.T, c client.Client, name string) *corev1.Secret {
	t.Helper()
	s := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func configuration(t *testing.T, c client.Client) *admissionregistrationv1.ValidatingWebhookConfiguration {
	t.Helper()
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "olmgate"}, config); err != nil {
		t.Fatal(err)
	}
	return config
}

// bundles are the caBundles of the webhooks.
func bundles(t *testing.T, c client.Client) [][]byte {
	t.Helper()
	var out [][]byte
	for _, w := range configuration(t, c).Webhooks {
		out = append(out, w.ClientConfig.CABundle)
	}
	return out
}

// setBundles overwrites the caBundle of every webhook.
func setBundles(t *testing.T, c client.Client, text []byte) {
	t.Helper()
	config := configuration(t, c)
	for i := range config.Webhooks {
		config.Webhooks[i].ClientConfig.CABundle = text
	}
	if err := c.Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
}

func update(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	if err := c.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func newTestAuthority(t *testing.T, now time.Time) *authority {
	t.Helper()
	a, err := newAuthority(rand.Reader, now, []string{host, host + ".cluster.local"}, DefaultAuthorityLifetime)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t *testing.T, a *authority, now time.Time, life time.Duration) *chain {
	t.Helper()
	ch, err := a.issue(rand.Reader, now, []string{host, host + ".cluster.local"}, life)
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

// shake is a TLS handshake between the source and a client that trusts the bundle, as the API server does it.
func shake(ctx context.Context, s Source, bundle []byte, name string, now time.Time) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	server := &tls.Config{GetCertificate: s.GetCertificate, MinVersion: tls.VersionTLS13, Time: func() time.Time { return now }}
	return shakeWith(ctx, server, &tls.Config{RootCAs: roots, ServerName: name, Time: func() time.Time { return now }})
}

// shakeWith is a handshake and a byte from the server: in TLS 1.3 a client only learns then that it was refused.
func shakeWith(ctx context.Context, server, client *tls.Config) error {
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
		_, _ = tls.Server(conn, server).Write([]byte{1})
	}()
	conn, err := (&tls.Dialer{Config: client}).DialContext(ctx, "tcp", listener.Addr().String())
	if err == nil {
		_, err = conn.Read(make([]byte, 1))
		conn.Close()
	}
	<-served
	return err
}
