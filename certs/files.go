package certs

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

// Files serves a certificate and key from files, read again when they change. Whoever writes the files also sees to
// caBundle.
type Files struct {
	watcher  *certwatcher.CertWatcher
	certFile string
	now      func() time.Time
}

// NewFiles reads the files once, so that a mistake shows at start.
func NewFiles(certFile, keyFile string) (*Files, error) {
	w, err := certwatcher.New(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("read the serving certificate %s and its key %s: %w", certFile, keyFile, err)
	}
	return &Files{watcher: w, certFile: certFile, now: time.Now}, nil
}

// Start implements Source.
func (f *Files) Start(ctx context.Context) error {
	if err := f.watcher.Start(ctx); err != nil {
		return fmt.Errorf("watch the serving certificate %s: %w", f.certFile, err)
	}
	return nil
}

// NeedLeaderElection implements Source.
func (*Files) NeedLeaderElection() bool { return false }

// GetCertificate implements Source.
func (f *Files) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return f.watcher.GetCertificate(hello)
}

// Ready implements Source.
func (f *Files) Ready() error {
	cert, err := f.watcher.GetCertificate(nil)
	if err != nil {
		return fmt.Errorf("serve the certificate %s: %w", f.certFile, err)
	}
	leaf, err := leafOf(cert)
	if err != nil {
		return fmt.Errorf("serve the certificate %s: %w", f.certFile, err)
	}
	if now := f.now(); now.After(leaf.NotAfter) {
		return fmt.Errorf("the certificate %s expired at %s: have it renewed", f.certFile, leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}
