package certs

import (
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
	"time"
)

// Lifetimes. The authority is renewed in the last year of its life, a serving certificate in the last third.
const (
	authorityLife  = 10 * 365 * 24 * time.Hour
	authorityRenew = 365 * 24 * time.Hour
	servingLife    = 30 * 24 * time.Hour
	servingRenew   = servingLife / 3
	// skew is how far a clock may be behind ours and still accept a new certificate.
	skew = time.Hour
)

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
func newAuthority(random io.Reader, now time.Time, names []string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return nil, fmt.Errorf("make the key of the authority: %w", err)
	}
	serial, err := newSerial(random)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(random, authorityTemplate(serial, now, names), authorityTemplate(serial, now, names), key.Public(), key)
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

func authorityTemplate(serial *big.Int, now time.Time, names []string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: serial,
		// A name of its own for each authority: verifiers pick the issuer by name when a bundle holds several.
		Subject:                     pkix.Name{CommonName: fmt.Sprintf("%s%x", authorityName, serial.Bytes()[:4])},
		NotBefore:                   now.Add(-skew),
		NotAfter:                    now.Add(authorityLife),
		IsCA:                        true,
		BasicConstraintsValid:       true,
		MaxPathLenZero:              true,
		KeyUsage:                    x509.KeyUsageCertSign,
		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         names,
	}
}

// parseAuthority reads what a Secret holds.
func parseAuthority(certPEM, keyPEM []byte) (*authority, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("read the authority: %w", err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("read the authority: its key is not an ECDSA key")
	}
	cert, err := leafOf(&pair)
	if err != nil {
		return nil, fmt.Errorf("read the authority: %w", err)
	}
	if !cert.IsCA {
		return nil, errors.New("read the authority: its certificate may not sign others")
	}
	return &authority{cert: cert, key: key, certPEM: certPEM, keyPEM: keyPEM}, nil
}

// usable reports whether the authority can sign certificates for the names for long enough.
func (a *authority) usable(now time.Time, names []string) error {
	switch {
	case now.Before(a.cert.NotBefore):
		return errors.New("the authority is not valid yet")
	case now.After(a.cert.NotAfter.Add(-authorityRenew)):
		return errors.New("the authority expires soon")
	case fmt.Sprint(a.cert.PermittedDNSDomains) != fmt.Sprint(names):
		return errors.New("the authority is for other names")
	}
	return nil
}

// issue makes a serving certificate and a key that never leaves memory.
func (a *authority) issue(random io.Reader, now time.Time, names []string) (*tls.Certificate, error) {
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
		NotBefore:    now.Add(-skew),
		NotAfter:     now.Add(servingLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(random, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("sign the serving certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the serving certificate back: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

func newSerial(random io.Reader) (*big.Int, error) {
	// 127 random bits with the highest set: positive, and never short.
	serial, err := rand.Int(random, new(big.Int).Lsh(big.NewInt(1), 126))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	return serial.SetBit(serial, 126, 1), nil
}

func leafOf(cert *tls.Certificate) (*x509.Certificate, error) {
	if cert.Leaf != nil {
		return cert.Leaf, nil
	}
	return x509.ParseCertificate(cert.Certificate[0])
}
