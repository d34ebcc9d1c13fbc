package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"time"
)

// addToBundle puts the certificate before those of the bundle that are still valid, each once. Replicas that still
// serve a certificate of the authority before this one stay trusted.
func addToBundle(certPEM, bundle []byte, now time.Time) []byte {
	var out bytes.Buffer
	seen := map[string]bool{}
	for rest := append(bytes.Clone(certPEM), bundle...); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return out.Bytes()
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil || now.After(cert.NotAfter) || seen[string(block.Bytes)] {
			continue
		}
		seen[string(block.Bytes)] = true
		out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes}))
	}
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
	for rest := current; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return own.Bytes()
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil && strings.HasPrefix(cert.Subject.CommonName, authorityName) {
			own.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes}))
		}
	}
}
