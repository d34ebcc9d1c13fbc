package certs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Diagnose looks at all that is needed and says what is missing, the cause before its effects; nothing when all is in
// order. It can be called without Start, from outside of the cluster too.
func (c *CertManager) Diagnose(ctx context.Context) ([]Finding, error) {
	h, err := c.readHooks(ctx)
	if err != nil {
		return nil, err
	}
	return c.diagnose(ctx, h, c.Clock.Now()), nil
}

func (c *CertManager) diagnose(ctx context.Context, h hooks, now time.Time) []Finding {
	var list []Finding
	add := func(findings ...*Finding) {
		for _, f := range findings {
			if f != nil {
				list = append(list, *f)
			}
		}
	}
	ch, problem, err := c.issued(ctx, now)
	if ch == nil || overdue(ch, now) {
		add(c.issuing(ctx)...)
	}
	var f Finding
	switch {
	case errors.As(problem, &f):
		add(&f)
	case err != nil:
		add(&Finding{Unreadable, fmt.Sprintf("Secret %s/%s", c.Namespace, c.options.TLSSecret), "cannot be read: " + err.Error(), "see to that first"})
	case ch != nil && overdue(ch, now):
		add(&Finding{RenewalOverdue, fmt.Sprintf("Certificate %s/%s", c.Namespace, c.options.Certificate),
			fmt.Sprintf("expires at %s and was not renewed", ch.leaf.NotAfter.UTC().Format(time.RFC3339)), "see whether cert-manager runs"})
	}
	if f := c.injection(h); f != nil {
		add(f)
	}
	if ch != nil && h.called() && ch.verify(h.trusted(), c.host(), now) != nil {
		if len(ch.roots) == 0 {
			add(c.rootless())
		} else if c.injection(h) == nil {
			add(&Finding{InjectionPending, "ValidatingWebhookConfiguration " + c.WebhookConfiguration,
				fmt.Sprintf("has a caBundle that does not trust the certificate in Secret %s/%s", c.Namespace, c.options.TLSSecret),
				fmt.Sprintf("cert-manager's cainjector copies it from Secret %s: see whether it runs", c.trust.key)})
		}
	}
	return list
}

// injection is a finding about the annotation by which cainjector finds olmgate's CAs.
func (c *CertManager) injection(h hooks) *Finding {
	want := c.trust.key.String()
	if h.config == nil || h.injector() == injectFromSecret && h.config.Annotations[injectFromSecret] == want {
		return nil
	}
	f := &Finding{InjectionMissing, "ValidatingWebhookConfiguration " + c.WebhookConfiguration,
		"has no annotation that makes cainjector write caBundle", fmt.Sprintf("annotate it with %s: %s", injectFromSecret, want)}
	switch by := h.injector(); by {
	case "":
	case injectFromSecret:
		f.Problem = fmt.Sprintf("has its caBundle from Secret %s", h.config.Annotations[injectFromSecret])
	default:
		f.Problem = fmt.Sprintf("has its caBundle by the annotation %s, which can drop a CA that is still in use", by)
		f.Next = fmt.Sprintf("replace the annotation by %s: %s", injectFromSecret, want)
	}
	return f
}

// issuing says what keeps cert-manager from issuing.
func (c *CertManager) issuing(ctx context.Context) []*Finding {
	cert, f := c.certificate(ctx)
	if f != nil {
		return []*Finding{f}
	}
	about := fmt.Sprintf("Certificate %s/%s", cert.Namespace, cert.Name)
	var list []*Finding
	if cert.Spec.SecretName != c.options.TLSSecret {
		list = append(list, &Finding{CertificateUnsuitable, about, fmt.Sprintf("issues into Secret %s", cert.Spec.SecretName),
			"set spec.secretName to " + c.options.TLSSecret})
	}
	if !slices.Contains(cert.Spec.DNSNames, c.host()) {
		list = append(list, &Finding{CertificateUnsuitable, about, fmt.Sprintf("is not for %s", c.host()), "add that to spec.dnsNames"})
	}
	ready := condition(cert.Status.Conditions, cmv1.CertificateConditionReady)
	if ready.Status == cmmeta.ConditionTrue && cert.Status.NotAfter != nil && c.Clock.Now().Before(cert.Status.NotAfter.Time) {
		return list
	}
	causes := append(c.issuer(ctx, cert), c.request(ctx, cert)...)
	said := "is not Ready yet: cert-manager has not looked at it"
	if ready.Status != "" {
		said = fmt.Sprintf("is not Ready: %s: %s", ready.Reason, ready.Message)
	}
	return append(append(list, causes...), &Finding{CertificateNotReady, about, said,
		fmt.Sprintf("kubectl describe certificate -n %s %s says more, and so does cert-manager's log", cert.Namespace, cert.Name)})
}

func (c *CertManager) certificate(ctx context.Context) (*cmv1.Certificate, *Finding) {
	about := fmt.Sprintf("Certificate %s/%s", c.Namespace, c.options.Certificate)
	cert, err := c.options.CertManager.CertmanagerV1().Certificates(c.Namespace).Get(ctx, c.options.Certificate, metav1.GetOptions{})
	switch {
	case unknownKind(err):
		return nil, noCertManager()
	case apierrors.IsNotFound(err):
		return nil, &Finding{CertificateMissing, about, "does not exist",
			"apply it, or let olmgate make it with certificates.certManager.create: true (--cert-manager-create)"}
	case err != nil:
		return nil, unreadable(about, err)
	}
	return cert, nil
}

// issuer says what is wrong with the issuer that the Certificate names.
func (c *CertManager) issuer(ctx context.Context, cert *cmv1.Certificate) []*Finding {
	ref := cert.Spec.IssuerRef
	if ref.Group != "" && ref.Group != cmv1.SchemeGroupVersion.Group {
		return nil // another vendor's
	}
	var conditions []cmv1.IssuerCondition
	var err error
	about := fmt.Sprintf("Issuer %s/%s", cert.Namespace, ref.Name)
	if ref.Kind == cmv1.ClusterIssuerKind {
		about = "ClusterIssuer " + ref.Name
		var i *cmv1.ClusterIssuer
		if i, err = c.options.CertManager.CertmanagerV1().ClusterIssuers().Get(ctx, ref.Name, metav1.GetOptions{}); err == nil {
			conditions = i.Status.Conditions
		}
	} else {
		var i *cmv1.Issuer
		if i, err = c.options.CertManager.CertmanagerV1().Issuers(cert.Namespace).Get(ctx, ref.Name, metav1.GetOptions{}); err == nil {
			conditions = i.Status.Conditions
		}
	}
	switch {
	case apierrors.IsNotFound(err):
		return []*Finding{{IssuerMissing, about, "does not exist", fmt.Sprintf("apply it, or name another in spec.issuerRef of Certificate %s/%s", cert.Namespace, cert.Name)}}
	case err != nil:
		return []*Finding{unreadable(about, err)}
	}
	for _, cond := range conditions {
		if cond.Type != cmv1.IssuerConditionReady {
			continue
		}
		if cond.Status == cmmeta.ConditionTrue {
			return nil
		}
		return []*Finding{{IssuerNotReady, about, fmt.Sprintf("is not Ready: %s: %s", cond.Reason, cond.Message), "see to what that says"}}
	}
	return []*Finding{{IssuerNotReady, about, "is not Ready yet: cert-manager has not looked at it", "see whether cert-manager runs"}}
}

// request says what became of the newest CertificateRequest of the Certificate.
func (c *CertManager) request(ctx context.Context, cert *cmv1.Certificate) []*Finding {
	requests, err := c.options.CertManager.CertmanagerV1().CertificateRequests(cert.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return []*Finding{unreadable("the CertificateRequests in "+cert.Namespace, err)}
	}
	var newest *cmv1.CertificateRequest
	for i, r := range requests.Items {
		if r.Annotations[cmv1.CertificateNameKey] == cert.Name && (newest == nil || revision(newest) < revision(&r)) {
			newest = &requests.Items[i]
		}
	}
	if newest == nil {
		return nil
	}
	about := fmt.Sprintf("CertificateRequest %s/%s", newest.Namespace, newest.Name)
	approved := false
	for _, cond := range newest.Status.Conditions {
		switch {
		case cond.Type == cmv1.CertificateRequestConditionDenied && cond.Status == cmmeta.ConditionTrue:
			return []*Finding{{RequestDenied, about, "was denied: " + cond.Message, "have the approver's policy permit it, then delete it to try again"}}
		case cond.Type == cmv1.CertificateRequestConditionReady && cond.Reason == cmv1.CertificateRequestReasonFailed:
			return []*Finding{{RequestFailed, about, "failed: " + cond.Message, "see to that; cert-manager tries again after a while, or at once when it is deleted"}}
		case cond.Type == cmv1.CertificateRequestConditionApproved && cond.Status == cmmeta.ConditionTrue:
			approved = true
		}
	}
	if !approved {
		return []*Finding{{RequestNotApproved, about, "waits for approval", "see whether cert-manager's approver runs, or approve it with cmctl approve"}}
	}
	return nil
}

func revision(r *cmv1.CertificateRequest) int {
	n, _ := strconv.Atoi(r.Annotations[cmv1.CertificateRequestRevisionAnnotationKey])
	return n
}

func condition(list []cmv1.CertificateCondition, kind cmv1.CertificateConditionType) cmv1.CertificateCondition {
	for _, cond := range list {
		if cond.Type == kind {
			return cond
		}
	}
	return cmv1.CertificateCondition{}
}

// unknownKind reports whether the API server answered that it does not serve the kind, rather than that it has no such
// object.
func unknownKind(err error) bool {
	if !apierrors.IsNotFound(err) {
		return false
	}
	return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

func noCertManager() *Finding {
	return &Finding{CertManagerMissing, "cert-manager", "is not installed: the API server does not know cert-manager.io/v1",
		"install cert-manager, or choose certificates.source: SelfManaged (--cert-source)"}
}

func unreadable(about string, err error) *Finding {
	return &Finding{Unreadable, about, "cannot be looked at: " + err.Error(), "allow it, for the diagnosis"}
}
