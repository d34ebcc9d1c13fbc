package certs

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// pemOf is the chain as files hold it.
func pemOf(t *testing.T, ch *chain) (cert, key []byte) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(ch.pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return bundle{ch.leaf}.encode(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// mounted is a directory as kubelet mounts a Secret: files that are symbolic links through one that is swapped.
type mounted struct {
	dir string
	n   int
}

func (m *mounted) swap(t *testing.T, files map[string][]byte) {
	t.Helper()
	m.n++
	version := filepath.Join(m.dir, "..version"+strings.Repeat("+", m.n))
	if err := os.Mkdir(version, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, filepath.Join(version, name), text)
		_ = os.Symlink(filepath.Join("..data", name), filepath.Join(m.dir, name))
	}
	next := filepath.Join(m.dir, "..data_tmp")
	if err := os.Symlink(filepath.Base(version), next); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(m.dir, "..data")); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreServedAndReadAgain(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	a := newTestAuthority(t, start)
	m := &mounted{dir: t.TempDir()}
	certFile, keyFile := filepath.Join(m.dir, "tls.crt"), filepath.Join(m.dir, "tls.key")
	var log bytes.Buffer
	options := FilesOptions{CertFile: certFile, KeyFile: keyFile, Clock: clock, Log: slog.New(slog.NewTextHandler(&log, nil))}
	if _, err := NewFiles(options); err == nil || !strings.Contains(err.Error(), certFile) {
		t.Errorf("absent files: %v", err)
	}
	put := func(ch *chain, other []byte) {
		cert, key := pemOf(t, ch)
		if other != nil {
			key = other
		}
		m.swap(t, map[string][]byte{"tls.crt": cert, "tls.key": key})
	}
	first, second := issue(t, a, start, 48*time.Hour), issue(t, a, start, 96*time.Hour)
	put(first, nil)
	f, err := NewFiles(options)
	if err != nil {
		t.Fatal(err)
	}
	serves := func(ch *chain) {
		t.Helper()
		if err := shake(t.Context(), f, a.certPEM, host, clock.Now()); err != nil || !f.current().same(ch) {
			t.Errorf("served: %v, %v", f.current().leaf.NotAfter, err)
		}
	}
	serves(first)
	if s := f.State(); f.Ready() != nil || s.Trust != TrustUnknown || !s.NotAfter.Equal(first.leaf.NotAfter) {
		t.Errorf("ready: %v, state: %+v", f.Ready(), s)
	}

	_, foreign := pemOf(t, second)
	put(first, foreign)
	f.files.again(f.replace)
	f.files.again(f.replace)
	serves(first)
	if n := strings.Count(log.String(), "cannot be used"); n != 1 {
		t.Errorf("a key that does not fit is told %d times: %s", n, log.String())
	}
	put(second, nil)
	f.files.again(f.replace)
	serves(second)
	if s := f.State(); s.Rotations != 1 {
		t.Errorf("state: %+v", s)
	}

	clock.Step(97 * time.Hour)
	if err := f.Ready(); err == nil || !strings.Contains(err.Error(), "expired") || !strings.Contains(err.Error(), certFile) {
		t.Errorf("expired: %v", err)
	}
	if _, err := f.GetCertificate(nil); err != nil {
		t.Errorf("nothing is served, though the clock may be wrong: %v", err)
	}
}

func TestFilesAreLookedAtWhileTheyAreServed(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	a := newTestAuthority(t, start)
	dir := t.TempDir()
	options := FilesOptions{CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"), Clock: clock, Log: silent}
	cert, key := pemOf(t, issue(t, a, start, time.Hour))
	write(t, options.CertFile, cert)
	write(t, options.KeyFile, key)
	f, err := NewFiles(options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- f.Start(ctx) }()
	next := issue(t, a, start, 2*time.Hour)
	cert, key = pemOf(t, next)
	write(t, options.CertFile, cert)
	write(t, options.KeyFile, key)
	for !f.current().same(next) {
		clock.Step(reloadInterval)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
