package source

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// authority is a CA with one serving certificate for 127.0.0.1.
type authority struct {
	pem     string
	serving tls.Certificate
}

func newAuthority(t *testing.T, serial int64) authority {
	t.Helper()
	sign := func(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	newKey := func() *ecdsa.PrivateKey {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test CA"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(serial + 1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	caKey, leafKey := newKey(), newKey()
	caDER := sign(ca, ca, caKey, caKey)
	return authority{
		pem:     string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})),
		serving: tls.Certificate{Certificate: [][]byte{sign(leaf, ca, leafKey, caKey)}, PrivateKey: leafKey},
	}
}

func TestARotatedCACountsWithoutARestart(t *testing.T) {
	before, after := newAuthority(t, 1), newAuthority(t, 10)
	var serving atomic.Pointer[tls.Certificate]
	serving.Store(&before.serving)
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, argo) })
	s.TLS.Certificates = nil
	s.TLS.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return serving.Load(), nil }

	for _, directory := range []bool{false, true} {
		serving.Store(&before.serving)
		dir := t.TempDir()
		file := filepath.Join(dir, "ca.crt")
		o := s.options()
		o.CA = []string{file}
		if directory {
			o.CA = []string{dir}
		}
		h, err := NewHTTP(o)
		if err != nil {
			t.Fatal(err)
		}
		fetch := func() error {
			_, err := h.Fetch(t.Context(), s.catalog())
			return err
		}
		if err := fetch(); !errors.Is(err, ErrCA) || PaceOf(err) != PaceNormal {
			t.Fatalf("before the CA is there: got %v", err)
		}
		write(t, file, before.pem)
		if err := fetch(); err != nil {
			t.Fatal(err)
		}
		serving.Store(&after.serving)
		if err := fetch(); err == nil || !strings.Contains(err.Error(), "check that olmgate's CA bundle") {
			t.Fatalf("with a certificate of the new CA: got %v", err)
		}
		write(t, file, after.pem)
		if err := fetch(); err != nil {
			t.Fatalf("after the rotation: %v", err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := fetch(); err != nil {
			t.Fatalf("with the file away for a moment: %v", err)
		}
	}
}

func TestReadCA(t *testing.T) {
	good := newAuthority(t, 1).pem
	tests := map[string]struct {
		files map[string]string
		says  string
	}{
		"a mounted Secret with a key beside the CA": {files: map[string]string{"ca.crt": good, "tls.key": "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"}},
		"several in one file":                       {files: map[string]string{"bundle.pem": "comment\n" + good + good}},
		"no certificate":                            {files: map[string]string{"readme": "x"}, says: "holds no PEM certificate"},
		"a certificate that does not parse":         {files: map[string]string{"ca.crt": "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"}, says: "ca.crt"},
		"a file that is far too large":              {files: map[string]string{"ca.crt": strings.Repeat("x", maxCAFile+1)}, says: "larger than"},
		"nothing":                                   {says: "no such file"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ca")
			for file, text := range tc.files {
				write(t, filepath.Join(dir, file), text)
			}
			r := roots{paths: []string{dir}}
			_, _, err := r.get()
			if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
		})
	}
}
