package certs

import (
	"bytes"
	"context"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// trust makes the bundle the caBundle of all webhooks of the ValidatingWebhookConfiguration. One that does not exist
// calls nobody, so nothing needs to trust anything: it is written as soon as it is there.
func (s *SelfManaged) trust(ctx context.Context, bundle []byte) error {
	var err error
	for range attempts {
		config := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		err = s.Client.Get(ctx, client.ObjectKey{Name: s.WebhookConfiguration}, config)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read ValidatingWebhookConfiguration %s: %w; allow get of it", s.WebhookConfiguration, err)
		}
		before := config.DeepCopy()
		if !setBundle(config, bundle, s.Clock.Now()) {
			return nil
		}
		// The merge replaces the list of webhooks as a whole: only when nobody else changed it meanwhile.
		err = s.Client.Patch(ctx, config, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if err == nil {
			s.Log.Info("caBundle was written", "validatingWebhookConfiguration", s.WebhookConfiguration)
			return nil
		}
		if !apierrors.IsConflict(err) {
			break
		}
	}
	return fmt.Errorf("write caBundle into ValidatingWebhookConfiguration %s: %w; allow patch of it", s.WebhookConfiguration, err)
}

// setBundle reports whether anything had to change. olmgate's own authorities that are trusted already stay for a
// while: when the Secret was lost, another replica still serves a certificate of the one before.
func setBundle(config *admissionregistrationv1.ValidatingWebhookConfiguration, bundle []byte, now time.Time) bool {
	changed := false
	for i := range config.Webhooks {
		c := &config.Webhooks[i].ClientConfig
		if want := addToBundle(bundle, earlierAuthorities(bundle, c.CABundle, now), now); !bytes.Equal(c.CABundle, want) {
			c.CABundle, changed = want, true
		}
	}
	return changed
}
