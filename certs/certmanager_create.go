package certs

import (
	"context"
	"fmt"
	"time"

	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	certmanagerv1ac "github.com/cert-manager/cert-manager/pkg/client/applyconfigurations/certmanager/v1"
	cmmetaac "github.com/cert-manager/cert-manager/pkg/client/applyconfigurations/meta/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Lifetimes of what olmgate asks cert-manager for: those of SelfManaged for the CA, cert-manager's own for the rest.
const (
	issuedAuthorityLife  = DefaultAuthorityLifetime
	issuedAuthorityRenew = issuedAuthorityLife / 10
	issuedServingLife    = 90 * 24 * time.Hour
)

// applyAgain is how often the objects are applied while the certificate is there: somebody may have deleted them.
const applyAgain = 10 * time.Minute

// create applies the Certificate and the CA that signs it, if olmgate is to see to them. Fields that somebody else
// manages are a conflict, not overwritten.
func (c *CertManager) create(ctx context.Context) error {
	now := c.Clock.Now()
	if !c.options.Create || c.Ready() == nil && now.Sub(c.applied) < applyAgain {
		return nil
	}
	api := c.options.CertManager.CertmanagerV1()
	options := metav1.ApplyOptions{FieldManager: string(fieldOwner)}
	issuers := []*certmanagerv1ac.IssuerApplyConfiguration{
		certmanagerv1ac.Issuer(selfSignedName, c.Namespace).WithSpec(certmanagerv1ac.IssuerSpec().WithSelfSigned(certmanagerv1ac.SelfSignedIssuer())),
		certmanagerv1ac.Issuer(authorityCRName, c.Namespace).WithSpec(certmanagerv1ac.IssuerSpec().WithCA(certmanagerv1ac.CAIssuer().WithSecretName(authorityKeyName))),
	}
	for _, i := range issuers {
		if _, err := api.Issuers(c.Namespace).Apply(ctx, i.WithLabels(labels), options); err != nil {
			return applyError("Issuer", c.Namespace, *i.Name, err)
		}
	}
	for _, cert := range []*certmanagerv1ac.CertificateApplyConfiguration{c.authorityCertificate(), c.servingCertificate()} {
		if _, err := api.Certificates(c.Namespace).Apply(ctx, cert.WithLabels(labels), options); err != nil {
			return applyError("Certificate", c.Namespace, *cert.Name, err)
		}
	}
	if c.applied.IsZero() {
		c.Log.Info("cert-manager's objects were applied", "certificate", c.Namespace+"/"+c.options.Certificate)
	}
	c.applied = now
	return nil
}

func (c *CertManager) authorityCertificate() *certmanagerv1ac.CertificateApplyConfiguration {
	return certmanagerv1ac.Certificate(authorityCRName, c.Namespace).WithSpec(certmanagerv1ac.CertificateSpec().
		WithIsCA(true).
		WithCommonName(authorityCRName).
		WithSecretName(authorityKeyName).
		WithDuration(metav1.Duration{Duration: issuedAuthorityLife}).
		WithRenewBefore(metav1.Duration{Duration: issuedAuthorityRenew}).
		WithPrivateKey(privateKey()).
		WithIssuerRef(cmmetaac.IssuerReference().WithKind(cmv1.IssuerKind).WithName(selfSignedName)))
}

func (c *CertManager) servingCertificate() *certmanagerv1ac.CertificateApplyConfiguration {
	return certmanagerv1ac.Certificate(c.options.Certificate, c.Namespace).WithSpec(certmanagerv1ac.CertificateSpec().
		WithSecretName(c.options.TLSSecret).
		WithDNSNames(c.names()...).
		WithUsages(cmv1.UsageDigitalSignature, cmv1.UsageServerAuth).
		WithDuration(metav1.Duration{Duration: issuedServingLife}).
		WithPrivateKey(privateKey()).
		WithIssuerRef(cmmetaac.IssuerReference().WithKind(cmv1.IssuerKind).WithName(authorityCRName)))
}

func privateKey() *certmanagerv1ac.CertificatePrivateKeyApplyConfiguration {
	return certmanagerv1ac.CertificatePrivateKey().
		WithAlgorithm(cmv1.ECDSAKeyAlgorithm).WithSize(256).WithRotationPolicy(cmv1.RotationPolicyAlways)
}

func applyError(kind, namespace, name string, err error) error {
	if unknownKind(err) {
		return *noCertManager()
	}
	if apierrors.IsConflict(err) {
		// Not a race that was lost: somebody else manages the field, and will tomorrow.
		return fmt.Errorf("apply %s %s/%s: %v; leave the field to olmgate, or leave out certificates.certManager.create", kind, namespace, name, err) //nolint:errorlint // see above
	}
	return fmt.Errorf("apply %s %s/%s: %w; allow create and patch of it by name, or make it yourself and leave out certificates.certManager.create",
		kind, namespace, name, err)
}
