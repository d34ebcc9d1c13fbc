package certs

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"

	"k8s.io/utils/clock"
)

// FilesOptions are what Files needs.
type FilesOptions struct {
	// CertFile and KeyFile hold the certificate, with those between it and its root, and its key, as PEM.
	CertFile, KeyFile string
	// Clock; nil means the real one.
	Clock clock.WithTicker
	// Log; nil means slog.Default().
	Log *slog.Logger
}

// Files serves a certificate and key from files, read again when they change. Whoever writes the files also sees to
// caBundle.
type Files struct {
	holder
	files reloaded[*chain]
}

// NewFiles reads the files once, so that a mistake shows at start.
func NewFiles(o FilesOptions) (*Files, error) {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	f := &Files{holder: holder{clock: o.Clock, log: o.Log}}
	f.files = reloaded[*chain]{paths: []string{o.CertFile, o.KeyFile}, parse: parsePair, clock: o.Clock, log: o.Log}
	if _, err := f.files.load(); err != nil {
		return nil, fmt.Errorf("read the serving certificate %s and its key %s: %w", o.CertFile, o.KeyFile, err)
	}
	f.replace(*f.files.value.Load())
	return f, nil
}

func parsePair(contents [][]byte) (*chain, error) {
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, err
	}
	return newChain(&pair, nil)
}

// replace serves another pair. It takes one that has expired too: a clock may be wrong, and the one before is no
// better.
func (f *Files) replace(ch *chain) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(ch)
}

// Start implements Source.
func (f *Files) Start(ctx context.Context) error {
	f.files.run(ctx, f.replace)
	return nil
}

// NeedLeaderElection implements Source.
func (*Files) NeedLeaderElection() bool { return false }

// GetCertificate implements Source.
func (f *Files) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return f.serve()
}

// Ready implements Source.
func (f *Files) Ready() error {
	if err := f.holder.Ready(); err != nil {
		return fmt.Errorf("%w: have %s renewed", err, f.files.paths[0])
	}
	return nil
}
