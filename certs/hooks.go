package certs

import (
	"context"
	"crypto/x509"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hooks are the webhooks of the ValidatingWebhookConfiguration as last read; nil when there is none.
type hooks struct {
	config *admissionregistrationv1.ValidatingWebhookConfiguration
}

// readHooks reads them from the API server itself, not from a cache: what it answers is what was written last.
func (c *core) readHooks(ctx context.Context) (hooks, error) {
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	err := c.Client.Get(ctx, client.ObjectKey{Name: c.WebhookConfiguration}, config)
	switch {
	case apierrors.IsNotFound(err):
		return hooks{}, nil
	case err != nil:
		return hooks{}, fmt.Errorf("read ValidatingWebhookConfiguration %s: %w; allow get, list and watch of it", c.WebhookConfiguration, err)
	}
	return hooks{config}, nil
}

// called reports whether there is a webhook that the API server could call.
func (h hooks) called() bool { return h.config != nil && len(h.config.Webhooks) > 0 }

// trusted are the certificates that every webhook's caBundle holds.
func (h hooks) trusted() bundle {
	if !h.called() {
		return nil
	}
	common := parseBundle(h.config.Webhooks[0].ClientConfig.CABundle)
	for _, w := range h.config.Webhooks[1:] {
		other := parseBundle(w.ClientConfig.CABundle)
		common = slices.DeleteFunc(common, func(c *x509.Certificate) bool { return !other.has(c) })
	}
	return common
}

// mentioned are the authorities that any webhook's caBundle holds.
func (h hooks) mentioned() bundle {
	if !h.called() {
		return nil
	}
	var all bundle
	for _, w := range h.config.Webhooks {
		all = all.with(parseBundle(w.ClientConfig.CABundle).authorities()...)
	}
	return all
}

// injectors are the annotations by which other controllers are told to write caBundle.
var injectors = []string{
	"cert-manager.io/inject-ca-from", injectFromSecret, "cert-manager.io/inject-apiserver-ca",
	"service.beta.openshift.io/inject-cabundle",
}

// injectFromSecret names the Secret that cert-manager's cainjector copies into caBundle.
const injectFromSecret = "cert-manager.io/inject-ca-from-secret"

// injector is the annotation that makes another controller write caBundle, "" when there is none.
func (h hooks) injector() string {
	if h.config != nil {
		for _, name := range injectors {
			if v := h.config.Annotations[name]; v != "" && v != "false" {
				return name
			}
		}
	}
	return ""
}
