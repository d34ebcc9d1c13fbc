package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
	if s.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
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

func ask(client *http.Client, url string) (*http.Response, string, error) {
	r, err := client.Post(url, "application/json", strings.NewReader(empty))
	if err != nil {
		return nil, "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	return r, string(body), err
}

func TestAReviewUnderWayIsFinishedAtShutdown(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, protocol := range []string{"HTTP/2.0", "HTTP/1.1"} {
		t.Run(protocol, func(t *testing.T) {
			begun, release := make(chan struct{}), make(chan struct{})
			s := &Server{}
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
			type answer struct {
				response *http.Response
				body     string
				err      error
			}
			answers := make(chan answer, 1)
			go func() {
				r, body, err := ask(client, url)
				answers <- answer{r, body, err}
			}()
			<-begun
			stopped := make(chan error, 1)
			go func() { stopped <- stop() }()
			// Once new connections are refused, the shutdown is under way.
			for {
				conn, err := net.Dial("tcp", s.Listener.Addr().String())
				if err != nil {
					break
				}
				conn.Close()
			}
			if err := s.Ready(); err == nil {
				t.Error("ready while it shuts down")
			}
			close(release)
			a := <-answers
			if a.err != nil || a.response.Proto != protocol || !strings.Contains(a.body, `"allowed":true`) {
				t.Errorf("answer %q over %v: %v", a.body, a.response, a.err)
			}
			if err := <-stopped; err != nil {
				t.Error(err)
			}
		})
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
	go func() { _, _, _ = ask(client, url) }()
	<-begun
	if err := stop(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error: %v", err)
	}
}

func TestWhatIsServed(t *testing.T) {
	s := &Server{}
	client, url, stop := listen(t, s, admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return admission.Allowed("") }))
	if r, body, err := ask(client, url); err != nil || r.ProtoMajor != 2 || r.TLS.Version != tls.VersionTLS13 || !strings.Contains(body, `"uid":"u"`) {
		t.Errorf("%v, %s, %v", r, body, err)
	}
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
	if r, _, err := ask(client, strings.Replace(url, Path, "/metrics", 1)); err != nil || r.StatusCode != http.StatusNotFound {
		t.Errorf("another path: %v, %v", r, err)
	}
	long, err := http.NewRequest(http.MethodPost, url, bytes.NewReader([]byte(empty)))
	if err != nil {
		t.Fatal(err)
	}
	long.Header.Set("X-Long", strings.Repeat("x", 1<<20))
	if r, err := client.Do(long); err == nil {
		r.Body.Close()
		if r.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a header of a megabyte: %s", r.Status)
		}
	}
	old := &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}
	if conn, err := tls.Dial("tcp", s.Listener.Addr().String(), old); err == nil {
		conn.Close()
		t.Error("TLS 1.2 is spoken though it is not wanted")
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
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
