package certs

import (
	"context"
	"crypto/tls"
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
	// know; otherwise it says what is missing.
	Ready() error
}

var (
	_ Source = (*SelfManaged)(nil)
	_ Source = (*Files)(nil)
)
