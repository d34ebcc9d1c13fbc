package certs

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFilesAreServed(t *testing.T) {
	now := time.Now()
	a, err := newAuthority(rand.Reader, now, []string{host})
	if err != nil {
		t.Fatal(err)
	}
	cert, err := a.issue(rand.Reader, now, []string{host})
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	write := func(path, kind string, der []byte) {
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := NewFiles(certFile, keyFile); err == nil || !strings.Contains(err.Error(), certFile) {
		t.Errorf("absent files: %v", err)
	}
	write(certFile, "CERTIFICATE", cert.Certificate[0])
	write(keyFile, "PRIVATE KEY", key)
	f, err := NewFiles(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Ready(); err != nil {
		t.Error(err)
	}
	if err := shake(t.Context(), f, a.certPEM, host, now); err != nil {
		t.Error(err)
	}
	f.now = func() time.Time { return now.Add(servingLife + time.Hour) }
	if err := f.Ready(); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("expired: %v", err)
	}
}
