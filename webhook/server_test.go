package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const empty = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u"}}`

// listen starts a server and returns a client that trusts it, its URL, and a function that ends it.
func listen(t *testing.T, s *Server, handler admission.Handler) (*http.Client, string, func() error) {
	t.Helper()
	// httptest's certificate serves as the one of a source.
	donor := httptest.NewTLSServer(nil)
	certificate := donor.TLS.Certificates[0]
	roots := x509.NewCertPool()
	roots.AddCert(donor.Certificate())
	donor.Close()
	client := &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{RootCAs: roots, ServerName: "example.com"},
	}}

	var err error
	if s.Listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.Log, s.Handler = silent, NewMux(&Endpoint{Handler: handler, Log: silent})
	s.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &certificate, nil }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Start(ctx) }()
	return client, "https://" + s.Listener.Addr().String() + Path + "?timeout=30s", func() error {
		cancel()
		err := <-done
		client.CloseIdleConnections()
		return err
	}
}

// reply is what a person would see of a response, whose body is closed.
type reply struct {
	status, proto, body string
	tls                 uint16
}

func ask(ctx context.Context, client *http.Client, url string, headers ...string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(empty))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		req.Header.Set("X-Long", h)
	}
	r, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	return reply{r.Status, r.Proto, string(body), r.TLS.Version}, err
}

func TestAReviewUnderWayIsFinishedAtShutdown(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, protocol := range []string{"HTTP/2.0", "HTTP/1.1"} {
		t.Run(protocol, func(t *testing.T) {
			begun, release := make(chan struct{}), make(chan struct{})
			s := &Server{farewell: time.Millisecond}
			client, url, stop := listen(t, s, admission.HandlerFunc(func(ctx context.Context, _ admission.Request) admission.Response {
				close(begun)
				<-release
				if ctx.Err() != nil {
					return admission.Denied("the context of the review ended")
				}
				return admission.Allowed("")
			}))
			if protocol == "HTTP/1.1" {
				transport := client.Transport.(*http.Transport)
				transport.ForceAttemptHTTP2, transport.TLSClientConfig.NextProtos = false, []string{"http/1.1"}
			}
			replies, failures := make(chan reply, 1), make(chan error, 1)
			go func() {
				r, err := ask(t.Context(), client, url)
				replies <- r
				failures <- err
			}()
			<-begun
			stopped := make(chan error, 1)
			go func() { stopped <- stop() }()
			// Once new connections are refused, the shutdown is under way.
			for {
				conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
				if err != nil {
					break
				}
				conn.Close()
			}
			if err := s.Ready(); err == nil {
				t.Error("ready while it shuts down")
			}
			close(release)
			r, err := <-replies, <-failures
			if err != nil || r.proto != protocol || !strings.Contains(r.body, `"allowed":true`) {
				t.Errorf("%+v, %v", r, err)
			}
			if err := <-stopped; err != nil {
				t.Error(err)
			}
		})
	}
}

// An API server keeps connections and speaks HTTP/1.1 to webhooks. What it sends in the moment in which an idle one is
// closed is lost, and it does not send it again.
func TestKeptConnectionsAreLetGoOfWithoutALoss(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := &Server{farewell: 5 * time.Second}
	client, url, stop := listen(t, s, admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return admission.Allowed("") }))
	transport := client.Transport.(*http.Transport)
	transport.ForceAttemptHTTP2, transport.TLSClientConfig.NextProtos = false, []string{"http/1.1"}
	const callers = 8
	var asking sync.WaitGroup
	lost := make(chan error, callers)
	warm := make(chan struct{}, callers)
	for range callers {
		asking.Go(func() {
			own := transport.Clone() // a connection each, and no other that stays idle
			own.MaxConnsPerHost = 1
			client := &http.Client{Transport: own}
			for first := true; ; first = false {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(empty))
				if err != nil {
					lost <- err
					return
				}
				req.Header.Set("Content-Type", "application/json")
				r, err := client.Do(req)
				if err != nil {
					lost <- err
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				r.Body.Close()
				if first {
					warm <- struct{}{}
				}
				if r.Close { // the next one would go to another replica
					return
				}
			}
		})
	}
	for range callers {
		<-warm
	}
	begun := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took >= s.farewell {
		t.Errorf("it took %s, though everybody had gone", took)
	}
	asking.Wait()
	close(lost)
	for err := range lost {
		t.Error(err)
	}
}

func TestAReviewThatNeverEndsDoesNotKeepTheServer(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	client, url, stop := listen(t, &Server{DrainTimeout: 1}, admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		close(begun)
		<-release
		return admission.Allowed("")
	}))
	go func() { _, _ = ask(t.Context(), client, url) }()
	<-begun
	if err := stop(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error: %v", err)
	}
}

func TestWhatIsServed(t *testing.T) {
	s := &Server{farewell: time.Millisecond}
	client, url, stop := listen(t, s, admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return admission.Allowed("") }))
	if r, err := ask(t.Context(), client, url); err != nil || r.proto != "HTTP/2.0" || r.tls != tls.VersionTLS13 || !strings.Contains(r.body, `"uid":"u"`) {
		t.Errorf("%+v, %v", r, err)
	}
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
	if r, err := ask(t.Context(), client, strings.Replace(url, Path, "/metrics", 1)); err != nil || r.status != "404 Not Found" {
		t.Errorf("another path: %+v, %v", r, err)
	}
	if r, err := ask(t.Context(), client, url, strings.Repeat("x", 1<<20)); err == nil && !strings.HasPrefix(r.status, "431 ") {
		t.Errorf("a header of a megabyte: %+v", r)
	}
	old := &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}
	if conn, err := (&tls.Dialer{Config: old}).DialContext(t.Context(), "tcp", s.Listener.Addr().String()); err == nil {
		conn.Close()
		t.Error("TLS 1.2 is spoken though it is not wanted")
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestTheTLSConfigurationCanBeChanged(t *testing.T) {
	s := &Server{ConfigureTLS: func(c *tls.Config) {
		c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
			own := c.Clone()
			own.ClientAuth, own.GetConfigForClient = tls.RequireAnyClientCert, nil
			return own, nil
		}
	}}
	client, url, stop := listen(t, s, admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return admission.Allowed("") }))
	if r, err := ask(t.Context(), client, url); err == nil {
		t.Errorf("a client without a certificate: %+v", r)
	}
	certificate, err := s.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	client.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{*certificate}
	if r, err := ask(t.Context(), client, url); err != nil || r.proto != "HTTP/2.0" {
		t.Errorf("one with: %+v, %v", r, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if err := (&Server{}).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "GetCertificate") {
		t.Errorf("error: %v", err)
	}
	s := &Server{Address: taken.Addr().String(), GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil }}
	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "--webhook-bind-address") {
		t.Errorf("error: %v", err)
	}
	if err := s.Ready(); err == nil {
		t.Error("ready")
	}
}
