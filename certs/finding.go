package certs

import (
	"errors"
	"strings"
)

// Finding is one thing that keeps cert-manager's certificate from being served and trusted.
type Finding struct {
	// Reason is one word for machines.
	Reason Reason
	// Object is what it is about, kind and name.
	Object string
	// Problem in a sentence.
	Problem string
	// Next is what to do about it.
	Next string
}

// Error says all of it.
func (f Finding) Error() string { return f.Object + " " + f.Problem + "; " + f.Next }

// Reason is why cert-manager's certificate is not served and trusted.
type Reason string

// Reasons.
const (
	// CertManagerMissing means that the API server does not know cert-manager's kinds.
	CertManagerMissing Reason = "CertManagerMissing"
	// Unreadable means that olmgate may not look at an object.
	Unreadable Reason = "Unreadable"
	// CertificateMissing means that there is no Certificate to issue.
	CertificateMissing Reason = "CertificateMissing"
	// CertificateUnsuitable means that what the Certificate asks for is of no use to olmgate.
	CertificateUnsuitable Reason = "CertificateUnsuitable"
	// CertificateNotReady means that cert-manager has not issued it.
	CertificateNotReady Reason = "CertificateNotReady"
	// IssuerMissing means that the issuer that the Certificate names does not exist.
	IssuerMissing Reason = "IssuerMissing"
	// IssuerNotReady means that the issuer cannot sign.
	IssuerNotReady Reason = "IssuerNotReady"
	// RequestDenied means that an approver refused the CertificateRequest.
	RequestDenied Reason = "RequestDenied"
	// RequestFailed means that the issuer refused the CertificateRequest.
	RequestFailed Reason = "RequestFailed"
	// RequestNotApproved means that no approver has looked at the CertificateRequest.
	RequestNotApproved Reason = "RequestNotApproved"
	// SecretMissing means that there is no Secret with the certificate.
	SecretMissing Reason = "SecretMissing"
	// SecretUnusable means that the Secret holds no key and certificate for olmgate's Service that are good now.
	SecretUnusable Reason = "SecretUnusable"
	// AuthorityUnknown means that the Secret does not say which CA to trust.
	AuthorityUnknown Reason = "AuthorityUnknown"
	// InjectionMissing means that cainjector is not told to write caBundle from olmgate's Secret.
	InjectionMissing Reason = "InjectionMissing"
	// InjectionPending means that cainjector has not written caBundle.
	InjectionPending Reason = "InjectionPending"
	// RenewalOverdue means that the certificate nears its end and cert-manager has not renewed it.
	RenewalOverdue Reason = "RenewalOverdue"
)

// asError joins findings; nil when there are none.
func asError(findings []Finding) error {
	if len(findings) == 0 {
		return nil
	}
	var said []string
	for _, f := range findings {
		said = append(said, f.Error())
	}
	return errors.New(strings.Join(said, "; also: "))
}
