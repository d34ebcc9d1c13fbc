package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// ClientsOptions are what Clients needs.
type ClientsOptions struct {
	// CAFile holds the CAs of clients, as PEM.
	CAFile string
	// AllowedNames are the common names and DNS names of which a client's certificate must have one; any will do when
	// there are none.
	AllowedNames []string
	// Clock; nil means the real one.
	Clock clock.WithTicker
	// Log; nil means slog.Default().
	Log *slog.Logger
}

// Clients is the client's side of mutual TLS: it lets in whoever has a certificate of the CA, for authentication as a
// client, and one of the names. It is a runnable for a controller-runtime manager.
type Clients struct {
	options ClientsOptions
	file    reloaded[*clientCA]
	log     limitedLog
}

// clientCA is what the file holds.
type clientCA struct{ pool *x509.CertPool }

// NewClients reads the file once, so that a mistake shows at start.
func NewClients(o ClientsOptions) (*Clients, error) {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	c := &Clients{options: o, log: limitedLog{log: o.Log, clock: o.Clock}}
	c.file = reloaded[*clientCA]{paths: []string{o.CAFile}, parse: parseClientCA, clock: o.Clock, log: o.Log}
	if _, err := c.file.load(); err != nil {
		return nil, fmt.Errorf("read the CA of clients %s: %w", o.CAFile, err)
	}
	return c, nil
}

func parseClientCA(contents [][]byte) (*clientCA, error) {
	authorities := parseBundle(contents[0])
	if len(authorities) == 0 {
		return nil, errors.New("it has no PEM certificate that can be read")
	}
	return &clientCA{authorities.pool()}, nil
}

// Start reads the file again when it changes, until the context ends.
func (c *Clients) Start(ctx context.Context) error {
	c.file.run(ctx, func(*clientCA) { c.options.Log.Info("the CA of clients was read again", "file", c.options.CAFile) })
	return nil
}

// NeedLeaderElection tells the manager that every replica needs it.
func (*Clients) NeedLeaderElection() bool { return false }

// Require makes a server with the configuration refuse the handshakes of all other clients.
func (c *Clients) Require(config *tls.Config) {
	base := config.Clone()
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		own := base.Clone()
		ca := *c.file.value.Load()
		// Asking and checking are two things, so that the log can say what was wrong.
		own.ClientAuth, own.ClientCAs = tls.RequestClientCert, ca.pool
		own.VerifyConnection = func(state tls.ConnectionState) error {
			err := c.check(state.PeerCertificates)
			if err != nil {
				c.log.warn("a client was refused", "client", hello.Conn.RemoteAddr().String(), "because", err)
			}
			return err
		}
		return own, nil
	}
}

// check is nil for a client that is let in.
func (c *Clients) check(presented []*x509.Certificate) error {
	if len(presented) == 0 {
		return errors.New("it has no certificate: see how the API server is told to present one")
	}
	leaf, between := presented[0], x509.NewCertPool()
	for _, cert := range presented[1:] {
		between.AddCert(cert)
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: (*c.file.value.Load()).pool, Intermediates: between, CurrentTime: c.options.Clock.Now(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return fmt.Errorf("its certificate of %q does not verify under %s: %w", leaf.Subject.CommonName, c.options.CAFile, err)
	}
	allowed := c.options.AllowedNames
	names := append([]string{leaf.Subject.CommonName}, leaf.DNSNames...)
	if len(allowed) > 0 && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(allowed, name) }) {
		return fmt.Errorf("its certificate is of %q, which is none of the names that are let in: %s", names, strings.Join(allowed, ", "))
	}
	return nil
}

// limitedLog writes no more than a line every few seconds: anybody can open connections.
type limitedLog struct {
	log   *slog.Logger
	clock clock.PassiveClock

	mu      sync.Mutex
	last    time.Time
	skipped int
}

// logInterval is the time between two lines.
const logInterval = 10 * time.Second

func (l *limitedLog) warn(message string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	if since := now.Sub(l.last); since >= 0 && since < logInterval {
		l.skipped++
		return
	}
	l.log.Warn(message, append(args, "notLogged", l.skipped)...)
	l.last, l.skipped = now, 0
}
