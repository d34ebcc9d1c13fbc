package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"iter"
	"strings"
	"time"
)

// certificates are those of a PEM text that can be read.
func certificates(text []byte) iter.Seq[*x509.Certificate] {
	return func(yield func(*x509.Certificate) bool) {
		for rest := text; ; {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil {
				return
			}
			if cert, err := x509.ParseCertificate(block.Bytes); err == nil && !yield(cert) {
				return
			}
		}
	}
}

func encodePEM(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}

// addToBundle puts the certificate before those of the bundle that are still valid, each once. Replicas that still
// serve a certificate of the authority before this one stay trusted.
func addToBundle(certPEM, bundle []byte, now time.Time) []byte {
	var out bytes.Buffer
	seen := map[string]bool{}
	for cert := range certificates(append(bytes.Clone(certPEM), bundle...)) {
		if now.After(cert.NotAfter) || seen[string(cert.Raw)] {
			continue
		}
		seen[string(cert.Raw)] = true
		out.Write(encodePEM(cert))
	}
	return out.Bytes()
}

// earlierAuthorities are those of olmgate's own authorities in current that a serving certificate in use may still be
// of: none once the bundle's first authority is older than any serving certificate.
func earlierAuthorities(bundle, current []byte, now time.Time) []byte {
	first, _ := pem.Decode(bundle)
	if first == nil {
		return nil
	}
	newest, err := x509.ParseCertificate(first.Bytes)
	if err != nil || now.After(newest.NotBefore.Add(skew+servingLife)) {
		return nil
	}
	var own bytes.Buffer
	for cert := range certificates(current) {
		if strings.HasPrefix(cert.Subject.CommonName, authorityName) {
			own.Write(encodePEM(cert))
		}
	}
	return own.Bytes()
}
