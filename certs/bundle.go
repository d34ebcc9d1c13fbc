package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"
)

// maxBundle bounds how many certificates are read from a text: it ends up in an object of the API server, which takes
// no more than a megabyte or so.
const maxBundle = 100

// bundle are certificates to trust, each once.
type bundle []*x509.Certificate

// parseBundle reads what can be read of a PEM text.
func parseBundle(text []byte) bundle {
	var b bundle
	for rest := text; len(b) < maxBundle; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			b = b.with(cert)
		}
	}
	return b
}

func (b bundle) encode() []byte {
	var out bytes.Buffer
	for _, cert := range b {
		out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))
	}
	return out.Bytes()
}

// newest are the last ones that were made, n at most.
func (b bundle) newest(n int) bundle {
	sorted := slices.Clone(b)
	slices.SortStableFunc(sorted, func(x, y *x509.Certificate) int { return y.NotBefore.Compare(x.NotBefore) })
	return sorted[:min(n, len(sorted))]
}

func (b bundle) has(cert *x509.Certificate) bool {
	return slices.ContainsFunc(b, func(c *x509.Certificate) bool { return bytes.Equal(c.Raw, cert.Raw) })
}

func (b bundle) hasAll(certs bundle) bool {
	return len(certs.without(b)) == 0
}

// without are the certificates of b that other does not have.
func (b bundle) without(other bundle) bundle {
	var out bundle
	for _, cert := range b {
		if !other.has(cert) {
			out = append(out, cert)
		}
	}
	return out
}

// with are the certificates of b and then those that it does not have. nil ones are passed over.
func (b bundle) with(certs ...*x509.Certificate) bundle {
	b = slices.Clip(b)
	for _, cert := range certs {
		if cert != nil && !b.has(cert) {
			b = append(b, cert)
		}
	}
	return b
}

// alive are those that have not expired. One that is not valid yet stays: a clock may be behind.
func (b bundle) alive(now time.Time) bundle {
	var out bundle
	for _, cert := range b {
		if !now.After(cert.NotAfter) {
			out = append(out, cert)
		}
	}
	return out
}

// authorities are those that may sign others.
func (b bundle) authorities() bundle {
	var out bundle
	for _, cert := range b {
		if cert.IsCA {
			out = append(out, cert)
		}
	}
	return out
}

func (b bundle) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	for _, cert := range b {
		pool.AddCert(cert)
	}
	return pool
}
