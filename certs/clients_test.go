package certs

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"log/slog"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// clientAuthority is a CA of clients, which may sign for any name.
type clientAuthority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newClientAuthority(t *testing.T, name string) *clientAuthority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: start.Add(-time.Hour), NotAfter: start.AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	return &clientAuthority{cert: sign(t, template, template, key, key), key: key}
}

func sign(t *testing.T, template, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(crand, template, parent, key.Public(), parentKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// client is a certificate of the CA.
func (a *clientAuthority) client(t *testing.T, change func(*x509.Certificate)) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kube-apiserver"}, DNSNames: []string{"apiserver.example.com"},
		NotBefore: start.Add(-time.Hour), NotAfter: start.AddDate(0, 1, 0), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	cert := sign(t, template, a.cert, key, a.key)
	return &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

func TestOnlyClientsOfTheCAAreLetIn(t *testing.T) {
	ours, theirs := newClientAuthority(t, "ours"), newClientAuthority(t, "theirs")
	for name, tc := range map[string]struct {
		allowed []string
		client  *tls.Certificate
		refused string
	}{
		"one with a certificate":                    {nil, ours.client(t, nil), ""},
		"one without":                               {nil, nil, "it has no certificate"},
		"one of another CA":                         {nil, theirs.client(t, nil), "does not verify under"},
		"one with a certificate for servers":        {nil, ours.client(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }), "incompatible key usage"},
		"one whose certificate has expired":         {nil, ours.client(t, func(c *x509.Certificate) { c.NotAfter = start.Add(-time.Minute) }), "expired"},
		"one that is named by its common name":      {[]string{"other", "kube-apiserver"}, ours.client(t, nil), ""},
		"one that is named by a DNS name":           {[]string{"apiserver.example.com"}, ours.client(t, nil), ""},
		"one that is not named":                     {[]string{"other"}, ours.client(t, nil), "none of the names that are let in: other"},
		"one that is named but is of another CA":    {[]string{"kube-apiserver"}, theirs.client(t, nil), "does not verify under"},
		"one without a name, when names are wanted": {[]string{"other"}, ours.client(t, func(c *x509.Certificate) { c.Subject, c.DNSNames = pkix.Name{}, nil }), "none of the names"},
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			t.Run(name+", "+tls.VersionName(version), func(t *testing.T) {
				var log bytes.Buffer
				file := filepath.Join(t.TempDir(), "ca.crt")
				write(t, file, bundle{ours.cert}.encode())
				clients, err := NewClients(ClientsOptions{CAFile: file, AllowedNames: tc.allowed, Clock: clocktesting.NewFakeClock(start), Log: slog.New(slog.NewTextHandler(&log, nil))})
				if err != nil {
					t.Fatal(err)
				}
				err = shakeAsClient(t, clients, tc.client, version)
				if (err == nil) != (tc.refused == "") {
					t.Errorf("handshake: %v", err)
				}
				if said := log.String(); !strings.Contains(said, tc.refused) || (tc.refused != "") != strings.Contains(said, "a client was refused") {
					t.Errorf("log: %s", said)
				}
			})
		}
	}
}

// shakeAsClient is a handshake of a client with the certificate.
func shakeAsClient(t *testing.T, clients *Clients, cert *tls.Certificate, version uint16) error {
	t.Helper()
	a := newTestAuthority(t, start)
	now := func() time.Time { return start }
	server := &tls.Config{Certificates: []tls.Certificate{*issue(t, a, start, time.Hour).pair}, MinVersion: version, MaxVersion: version, Time: now}
	clients.Require(server)
	config := &tls.Config{RootCAs: bundle{a.cert}.pool(), ServerName: host, Time: now}
	if cert != nil {
		// Whatever CAs the server asks for.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
	}
	return shakeWith(t.Context(), server, config)
}

func TestTheCAOfClientsIsReadAgain(t *testing.T) {
	first, second := newClientAuthority(t, "first"), newClientAuthority(t, "second")
	fakeClock := clocktesting.NewFakeClock(start)
	var log bytes.Buffer
	m := &mounted{dir: t.TempDir()}
	options := ClientsOptions{CAFile: filepath.Join(m.dir, "ca.crt"), Clock: fakeClock, Log: slog.New(slog.NewTextHandler(&log, nil))}
	if _, err := NewClients(options); err == nil || !strings.Contains(err.Error(), options.CAFile) {
		t.Errorf("an absent file: %v", err)
	}
	m.swap(t, map[string][]byte{"ca.crt": bundle{first.cert}.encode()})
	clients, err := NewClients(options)
	if err != nil {
		t.Fatal(err)
	}
	lets := func(a *clientAuthority) bool {
		return shakeAsClient(t, clients, a.client(t, nil), tls.VersionTLS13) == nil
	}
	again := func() { clients.file.again(func(*clientCA) {}) }

	m.swap(t, map[string][]byte{"ca.crt": []byte("rubbish")})
	again()
	again()
	if !lets(first) || strings.Count(log.String(), "it has no PEM certificate") != 1 {
		t.Errorf("rubbish: %s", log.String())
	}
	m.swap(t, map[string][]byte{"ca.crt": bundle{second.cert}.encode()})
	again()
	if lets(first) || !lets(second) {
		t.Error("the new CA is not in force")
	}

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- clients.Start(ctx) }()
	m.swap(t, map[string][]byte{"ca.crt": bundle{first.cert, second.cert}.encode()})
	until(t, "it is read while it runs", func() bool { fakeClock.Step(reloadInterval); return lets(first) })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRefusalsDoNotFloodTheLog(t *testing.T) {
	var log bytes.Buffer
	fakeClock := clocktesting.NewFakeClock(start)
	l := limitedLog{log: slog.New(slog.NewTextHandler(&log, nil)), clock: fakeClock}
	for range 5 {
		l.warn("refused")
	}
	fakeClock.Step(logInterval)
	l.warn("refused")
	if lines := strings.Split(strings.TrimSpace(log.String()), "\n"); len(lines) != 2 || !strings.Contains(lines[1], "notLogged=4") {
		t.Errorf("log: %s", log.String())
	}
}
