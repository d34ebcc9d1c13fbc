package doctor

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/webhook"
)

const applyAgain = "apply olmgate's manifests again"

func (d *doctor) webhookConfiguration(ctx context.Context) error {
	found := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	err := d.client.Get(ctx, client.ObjectKey{Name: configuration}, found)
	if apierrors.IsNotFound(err) {
		d.fault(applyAgain, "there is no ValidatingWebhookConfiguration %s, so the API server asks nobody", configuration)
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ValidatingWebhookConfiguration %s: %w", configuration, err)
	}
	i := slices.IndexFunc(found.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool { return w.Name == hookName })
	if i < 0 {
		d.fault(applyAgain, "ValidatingWebhookConfiguration %s has no webhook %s, so the API server asks nobody about ClusterExtensions", configuration, hookName)
		return nil
	}
	d.hook = &found.Webhooks[i]
	if fine := d.checkHook(); fine {
		policy := admissionregistrationv1.Fail
		if d.hook.FailurePolicy != nil {
			policy = *d.hook.FailurePolicy
		}
		d.ok("the API server asks %s/%s about ClusterExtensions, failurePolicy %s", d.Namespace, service, policy)
	}
	return nil
}

// checkHook compares what decides whether and where the API server asks.
func (d *doctor) checkHook() bool {
	before := len(d.findings)
	switch ref := d.hook.ClientConfig.Service; {
	case ref == nil:
		d.warn("", "webhook %s calls a URL and not the Service %s", hookName, service)
	case ref.Namespace != d.Namespace:
		d.fault(applyAgain, "webhook %s calls the Service %s/%s, and olmgate is looked at in namespace %s", hookName, ref.Namespace, ref.Name, d.Namespace)
	case ref.Name != service:
		d.fault(applyAgain, "webhook %s calls the Service %s and not %s", hookName, ref.Name, service)
	case ref.Path == nil || *ref.Path != webhook.Path:
		d.fault(applyAgain, "webhook %s does not call the path %s", hookName, webhook.Path)
	}
	for _, op := range []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update} {
		if !slices.ContainsFunc(d.hook.Rules, func(r admissionregistrationv1.RuleWithOperations) bool {
			return contains(r.Operations, op) && contains(r.APIGroups, "olm.operatorframework.io") && contains(r.Resources, "clusterextensions")
		}) {
			d.fault(applyAgain, "webhook %s is not asked at %s of ClusterExtensions", hookName, op)
		}
	}
	if d.hook.NamespaceSelector.Size() > 0 || d.hook.ObjectSelector.Size() > 0 {
		d.warn("", "webhook %s has a selector: objects that do not match it are not judged", hookName)
	}
	for _, name := range []string{"not-being-deleted", "source-changed"} {
		if !slices.ContainsFunc(d.hook.MatchConditions, func(m admissionregistrationv1.MatchCondition) bool { return m.Name == name }) {
			d.warn(applyAgain, "webhook %s lacks the match condition %s, which keeps olmgate away from writes that it has no say in", hookName, name)
		}
	}
	return len(d.findings) == before
}

// contains also takes the wildcard of webhook rules.
func contains[T ~string](list []T, want T) bool {
	return slices.Contains(list, want) || slices.Contains(list, "*")
}

func (d *doctor) caBundle(context.Context) error {
	if d.hook == nil {
		d.skip("webhook %s was not seen", hookName)
		return nil
	}
	bundle := d.hook.ClientConfig.CABundle
	if len(bytes.TrimSpace(bundle)) == 0 {
		d.fault("it is written by olmgate, by cert-manager's cainjector or by whoever makes the certificate: look at the log of that one", "webhook %s has no caBundle, so the API server does not trust olmgate", hookName)
		return nil
	}
	var valid, ended int
	var until time.Time
	for rest := bundle; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		switch now := d.now(); {
		case err != nil:
			d.warn("", "a certificate in caBundle cannot be read: %v", err)
		case now.Before(cert.NotBefore), now.After(cert.NotAfter):
			ended++
		default:
			valid++
			if cert.NotAfter.After(until) {
				until = cert.NotAfter
			}
		}
	}
	if valid == 0 {
		d.fault("it is written by olmgate, by cert-manager's cainjector or by whoever makes the certificate: look at the log of that one", "caBundle of webhook %s holds no certificate that is valid now (%d expired)", hookName, ended)
		return nil
	}
	d.ok("caBundle holds %s, valid until %s", count(valid, "authority's certificate"), until.UTC().Format(time.RFC3339))
	return nil
}
