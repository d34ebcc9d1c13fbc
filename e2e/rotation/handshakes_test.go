package rotation

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
)

const host = gate.Service + "." + gate.Namespace + ".svc"

// handshakes calls every replica again and again with a caBundle that is up to a second old. The API server keeps its
// connections, so that it alone would not notice a leaf that it would not trust.
type handshakes struct {
	end  context.CancelFunc
	done sync.WaitGroup

	mu     sync.Mutex
	result shaken
}

type shaken struct {
	count, failed int
	first         error
}

func (s shaken) String() string {
	return fmt.Sprintf("handshakes=%d failed=%d first=%v", s.count, s.failed, s.first)
}

const (
	bundleAge = time.Second
	between   = 50 * time.Millisecond
)

func (w *world) shakeHands() *handshakes {
	w.Helper()
	scheme := runtime.NewScheme()
	if err := admissionregistrationv1.AddToScheme(scheme); err != nil {
		w.Fatal(err)
	}
	c, err := client.New(w.kube, client.Options{Scheme: scheme})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &handshakes{end: cancel}
	roots, err := readRoots(ctx, c)
	if err != nil {
		w.Fatal(err)
	}
	h.done.Go(func() {
		read := time.Now()
		for ctx.Err() == nil {
			if time.Since(read) > bundleAge {
				if fresh, err := readRoots(ctx, c); err == nil {
					roots, read = fresh, time.Now()
				}
			}
			for _, ip := range w.addresses() {
				h.note(ctx, ip, shake(ctx, net.JoinHostPort(ip, webhookPort), roots))
			}
			select {
			case <-ctx.Done():
			case <-time.After(between):
			}
		}
	})
	return h
}

func (w *world) addresses() []string {
	if len(w.replicas) == 0 {
		return []string{cluster.WebhookAddress}
	}
	return []string{cluster.WebhookAddress, secondAddress}
}

func (h *handshakes) note(ctx context.Context, address string, err error) {
	if ctx.Err() != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.result.count++
	if err != nil {
		h.result.failed++
		if h.result.first == nil {
			h.result.first = fmt.Errorf("%s at %s: %w", address, time.Now().UTC().Format(time.StampMilli), err)
		}
	}
}

func (h *handshakes) stop() shaken {
	h.end()
	h.done.Wait()
	return h.result
}

func readRoots(ctx context.Context, c client.Client) (*x509.CertPool, error) {
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.Get(ctx, client.ObjectKey{Name: gate.Configuration}, config); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.Webhooks[0].ClientConfig.CABundle)
	return roots, nil
}

func shake(ctx context.Context, address string, roots *x509.CertPool) error {
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS13}}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}
