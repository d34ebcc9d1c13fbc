package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// An Authority signs the certificates of a cluster.
type Authority struct {
	// CertFile holds the authority's own certificate.
	CertFile string
	// PEM is the content of CertFile.
	PEM []byte

	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Subject is what a certificate is issued for.
type Subject struct {
	CommonName   string
	Organization string
	DNSNames     []string
	IPs          []string
}

// Validity of everything issued: from a while ago, as clocks differ.
const (
	validBefore = time.Hour
	validAfter  = 7 * 24 * time.Hour
)

// NewAuthority makes a CA and writes its certificate to dir/name.crt.
func NewAuthority(dir, name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key for %s: %w", name, err)
	}
	template, err := newTemplate(name)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("signing %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	a := &Authority{CertFile: filepath.Join(dir, name+".crt"), PEM: encodeCert(der), dir: dir, cert: cert, key: key}
	if err := os.WriteFile(a.CertFile, a.PEM, 0o644); err != nil {
		return nil, fmt.Errorf("writing the certificate of %s: %w", name, err)
	}
	return a, nil
}

// keyPEM is the authority's key, for somebody else to sign with.
func (a *Authority) keyPEM() ([]byte, error) { return encodeKey(a.key) }

// Issue makes a certificate for servers and clients alike and writes it, with
// its key, to NAME.crt and NAME.key in the authority's folder.
func (a *Authority) Issue(name string, subject Subject) (certFile, keyFile string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", fmt.Errorf("making a key for %s: %w", name, err)
	}
	template, err := newTemplate(subject.CommonName)
	if err != nil {
		return "", "", err
	}
	if subject.Organization != "" {
		template.Subject.Organization = []string{subject.Organization}
	}
	template.DNSNames = subject.DNSNames
	for _, ip := range subject.IPs {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(ip))
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return "", "", fmt.Errorf("signing %s: %w", name, err)
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return "", "", err
	}
	certFile, keyFile = filepath.Join(a.dir, name+".crt"), filepath.Join(a.dir, name+".key")
	if err := os.WriteFile(keyFile, keyPEM, 0o600); err != nil {
		return "", "", fmt.Errorf("writing the key of %s: %w", name, err)
	}
	if err := os.WriteFile(certFile, encodeCert(der), 0o644); err != nil {
		return "", "", fmt.Errorf("writing the certificate of %s: %w", name, err)
	}
	return certFile, keyFile, nil
}

func newTemplate(commonName string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName},
		NotBefore:    now.Add(-validBefore),
		NotAfter:     now.Add(validAfter),
	}, nil
}
