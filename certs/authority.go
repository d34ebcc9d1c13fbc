package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"
)

// Lifetimes that hold without options. An authority is replaced in the last tenth of its life, a serving certificate in
// the last third.
const (
	DefaultAuthorityLifetime = 10 * 365 * 24 * time.Hour
	DefaultServingLifetime   = 30 * 24 * time.Hour
)

// backdate is how far a clock may be behind ours and still accept what we sign. It costs nothing: nobody asks how old
// an authority is.
const backdate = 365 * 24 * time.Hour

// authorityName begins the common name of every authority.
const authorityName = "olmgate-ca-"

// authority signs serving certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// certPEM and keyPEM are what the Secret holds.
	certPEM, keyPEM []byte
}

// newAuthority makes a certificate authority that is good for nothing but the given DNS names, so that its key in a
// Secret is worth little to a thief.
func newAuthority(random io.Reader, now time.Time, names []string, life time.Duration) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return nil, fmt.Errorf("make the key of the authority: %w", err)
	}
	serial, err := newSerial(random)
	if err != nil {
		return nil, err
	}
	template := authorityTemplate(serial, now, names, life)
	der, err := x509.CreateCertificate(random, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the certificate of the authority: %w", err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the key of the authority: %w", err)
	}
	return parseAuthority(
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}))
}

func authorityTemplate(serial *big.Int, now time.Time, names []string, life time.Duration) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: serial,
		// A name of its own for each authority: verifiers pick the issuer by name when a bundle holds several.
		Subject:                     pkix.Name{CommonName: fmt.Sprintf("%s%x", authorityName, serial.Bytes()[:4])},
		NotBefore:                   now.Add(-backdate),
		NotAfter:                    now.Add(life),
		IsCA:                        true,
		BasicConstraintsValid:       true,
		MaxPathLenZero:              true,
		KeyUsage:                    x509.KeyUsageCertSign,
		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         names,
	}
}

// parseAuthority reads what a Secret holds under tls.crt and tls.key, or the like.
func parseAuthority(certPEM, keyPEM []byte) (*authority, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the key is not an ECDSA key")
	}
	cert := pair.Leaf
	if !cert.IsCA {
		return nil, errors.New("the certificate may not sign others")
	}
	return &authority{cert: cert, key: key, certPEM: certPEM, keyPEM: keyPEM}, nil
}

// usable is nil when the authority can sign certificates for the names now.
func (a *authority) usable(now time.Time, names []string) error {
	switch {
	case now.Before(a.cert.NotBefore):
		return fmt.Errorf("the authority is not valid before %s", a.cert.NotBefore.UTC().Format(time.RFC3339))
	case now.After(a.cert.NotAfter):
		return fmt.Errorf("the authority expired at %s", a.cert.NotAfter.UTC().Format(time.RFC3339))
	case !slices.Equal(a.cert.PermittedDNSDomains, names):
		return fmt.Errorf("the authority is for %s only", strings.Join(a.cert.PermittedDNSDomains, ", "))
	}
	return nil
}

func (a *authority) same(other *authority) bool {
	return a != nil && other != nil && bytes.Equal(a.cert.Raw, other.cert.Raw)
}

// issue makes a serving certificate and a key that never leaves memory. It is as old as the authority, for the sake of
// clocks that are behind, and does not outlive it.
func (a *authority) issue(random io.Reader, now time.Time, names []string, life time.Duration) (*chain, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return nil, fmt.Errorf("make the key of the serving certificate: %w", err)
	}
	serial, err := newSerial(random)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "olmgate"},
		DNSNames:     names,
		NotBefore:    a.cert.NotBefore,
		NotAfter:     now.Add(life),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if template.NotAfter.After(a.cert.NotAfter) {
		template.NotAfter = a.cert.NotAfter
	}
	der, err := x509.CreateCertificate(random, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("sign the serving certificate: %w", err)
	}
	c, err := newChain(&tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, bundle{a.cert})
	if err != nil {
		return nil, fmt.Errorf("read the serving certificate back: %w", err)
	}
	return c, nil
}

func newSerial(random io.Reader) (*big.Int, error) {
	// 127 random bits with the highest set: positive, and never short.
	serial, err := rand.Int(random, new(big.Int).Lsh(big.NewInt(1), 126))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	return serial.SetBit(serial, 126, 1), nil
}
