package certs

import (
	"bytes"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writeBundle makes the bundle the caBundle of all webhooks, provided that nobody has changed them since they were
// read, and returns them as they are then. A ValidatingWebhookConfiguration that does not exist calls nobody, so
// nothing needs to trust anything: it is written as soon as it is there.
func (s *SelfManaged) writeBundle(ctx context.Context, h hooks, trusted bundle) (hooks, error) {
	if !h.called() {
		return h, nil
	}
	text := trusted.encode()
	config, changed := h.config.DeepCopy(), false
	for i := range config.Webhooks {
		if c := &config.Webhooks[i].ClientConfig; !bytes.Equal(c.CABundle, text) {
			c.CABundle, changed = text, true
		}
	}
	if !changed {
		return h, nil
	}
	if by := h.injector(); by != "" {
		return h, fmt.Errorf("the caBundle of ValidatingWebhookConfiguration %s is written by another controller, for its annotation %s: "+
			"remove the annotation, or choose another source of certificates", s.WebhookConfiguration, by)
	}
	// The merge replaces the list of webhooks as a whole: only when nobody else changed it meanwhile.
	patch := client.MergeFromWithOptions(h.config, client.MergeFromWithOptimisticLock{})
	if err := s.Client.Patch(ctx, config, patch, fieldOwner); err != nil {
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			return h, err
		}
		return h, fmt.Errorf("write caBundle into ValidatingWebhookConfiguration %s: %w; allow patch of it", s.WebhookConfiguration, err)
	}
	s.writes.Add(1)
	s.Log.Info("caBundle was written", "validatingWebhookConfiguration", s.WebhookConfiguration, "authorities", len(trusted))
	return hooks{config}, nil
}
