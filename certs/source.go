package certs

import (
	"context"
	"crypto/tls"
	"time"
)

// Source is where the serving certificate comes from. It is a runnable for a controller-runtime manager, on every
// replica.
type Source interface {
	// Start keeps the certificate current until the context ends.
	Start(ctx context.Context) error
	// NeedLeaderElection is false: every replica serves.
	NeedLeaderElection() bool
	// GetCertificate answers a handshake from memory, for tls.Config.
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Ready is nil when handshakes can be answered and the API server trusts the answer, as far as the source can
	// know; otherwise it says what is missing. Once nil, only a certificate that has expired changes it.
	Ready() error
	// State is what metrics say about the certificate.
	State() State
}

// State describes the certificate that is served.
type State struct {
	// NotAfter is the end of its life; zero when there is none.
	NotAfter time.Time
	// Trust says whether the caBundle trusts it.
	Trust Trust
	// Rotations is how often it was replaced since the start.
	Rotations int
	// Changes is how often that was by a certificate of another authority.
	Changes int
}

// Trust says whether every webhook's caBundle, as last seen, trusts the certificate that is served.
type Trust int

// Trusts. A source that does not look at the caBundle does not know.
const (
	TrustUnknown Trust = iota
	NotTrusted
	Trusted
)

var (
	_ Source = (*SelfManaged)(nil)
	_ Source = (*CertManager)(nil)
	_ Source = (*Files)(nil)
)
