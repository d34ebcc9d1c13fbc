package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// chain is a certificate to serve, with its key, as a verifier sees it.
type chain struct {
	pair *tls.Certificate
	leaf *x509.Certificate
	// intermediates between the leaf and a root, which the handshake sends along.
	intermediates []*x509.Certificate
	// roots are what has to be trusted for the leaf to verify.
	roots bundle
}

// newChain reads the certificates of a pair.
func newChain(pair *tls.Certificate, roots bundle) (*chain, error) {
	if len(pair.Certificate) == 0 {
		return nil, errors.New("there is no certificate")
	}
	c := &chain{pair: pair, roots: roots}
	for i, der := range pair.Certificate {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", i+1, err)
		}
		if i == 0 {
			c.leaf, pair.Leaf = cert, cert
		} else {
			c.intermediates = append(c.intermediates, cert)
		}
	}
	return c, nil
}

// verify is what the API server does at a handshake.
func (c *chain) verify(roots bundle, host string, now time.Time) error {
	between := x509.NewCertPool()
	for _, cert := range c.intermediates {
		between.AddCert(cert)
	}
	_, err := c.leaf.Verify(x509.VerifyOptions{
		DNSName: host, Roots: roots.pool(), Intermediates: between, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return err
}

func (c *chain) expired(now time.Time) bool { return now.After(c.leaf.NotAfter) }

func (c *chain) same(other *chain) bool { return bytes.Equal(c.leaf.Raw, other.leaf.Raw) }
