package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
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
