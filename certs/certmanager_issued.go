package certs

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// issued is what the Secret holds, nil when that is of no use; then problem says why, as a Finding. err is a failure to
// read it.
func (c *CertManager) issued(ctx context.Context, now time.Time) (issued *chain, problem, err error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: c.Namespace, Name: c.options.TLSSecret}
	err = c.Client.Get(ctx, key, secret)
	about := "Secret " + key.String()
	switch {
	case apierrors.IsNotFound(err):
		return nil, Finding{SecretMissing, about, "does not exist",
			fmt.Sprintf("cert-manager makes it for Certificate %s/%s: see to that", c.Namespace, c.options.Certificate)}, nil
	case err != nil:
		return nil, nil, fmt.Errorf("read %s: %w; allow get, list and watch of it", about, err)
	}
	issued, finding := c.readPair(secret, about, now)
	if finding != nil {
		return nil, *finding, nil
	}
	return issued, nil, nil
}

// readPair is the certificate and key of the Secret, if the API server can verify it one day.
func (c *CertManager) readPair(secret *corev1.Secret, about string, now time.Time) (*chain, *Finding) {
	again := fmt.Sprintf("delete it, and cert-manager issues it again for Certificate %s/%s", c.Namespace, c.options.Certificate)
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, &Finding{SecretUnusable, about, fmt.Sprintf("has no usable %s and %s: %v", corev1.TLSCertKey, corev1.TLSPrivateKeyKey, err), again}
	}
	ch, err := newChain(&pair, parseBundle(secret.Data[caKey]))
	if err != nil {
		return nil, &Finding{SecretUnusable, about, fmt.Sprintf("has no usable %s: %v", corev1.TLSCertKey, err), again}
	}
	switch err := ch.leaf.VerifyHostname(c.host()); {
	case err != nil:
		return nil, &Finding{SecretUnusable, about, fmt.Sprintf("has a certificate that is not for %s: %v", c.host(), err),
			fmt.Sprintf("add %s to spec.dnsNames of Certificate %s/%s", c.host(), c.Namespace, c.options.Certificate)}
	case ch.expired(now):
		return nil, &Finding{SecretUnusable, about, fmt.Sprintf("has a certificate that expired at %s", ch.leaf.NotAfter.UTC().Format(time.RFC3339)), again}
	}
	if len(ch.roots) > 0 && ch.verify(ch.roots, c.host(), now) != nil {
		// Not a reason to refuse it: a caBundle that somebody else looks after may trust it all the same.
		ch.roots = nil
	}
	return ch, nil
}

// rootless is a finding about a certificate of which nobody knows the CA.
func (c *CertManager) rootless() *Finding {
	return &Finding{AuthorityUnknown, fmt.Sprintf("Secret %s/%s", c.Namespace, c.options.TLSSecret),
		fmt.Sprintf("has no %s that its certificate verifies under, as with issuers that do not tell their CA (ACME, and Vault without a chain)", caKey),
		fmt.Sprintf("choose an issuer that tells it, such as a CA issuer, or put the CA into %s of Secret %s, with the annotation %s: \"true\", by hand", caKey, c.trust.key, allowInjection)}
}
