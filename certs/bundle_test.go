package certs

import (
	"bytes"
	"crypto/rand"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

func TestWhatWasTrustedStaysWhileACertificateOfItMayBeServed(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	authority := func(at time.Time) []byte {
		a, err := newAuthority(rand.Reader, at, []string{"olmgate-webhook.olmgate-system.svc"})
		if err != nil {
			t.Fatal(err)
		}
		return a.certPEM
	}
	old, lost := authority(start), start.AddDate(0, 1, 0)
	fresh := authority(lost) // the Secret was lost, and a replica made another authority
	for name, tc := range map[string]struct {
		current []byte
		now     time.Time
		want    []byte
	}{
		"another replica still serves a certificate of the one before": {old, lost, bytes.Join([][]byte{fresh, old}, nil)},
		"both are there already":                                           {bytes.Join([][]byte{fresh, old}, nil), lost, bytes.Join([][]byte{fresh, old}, nil)},
		"every certificate of the one before has ended":                    {bytes.Join([][]byte{fresh, old}, nil), lost.Add(servingLife + 2*skew), fresh},
		"the caBundle was wiped":                                           {nil, lost, fresh},
		"the caBundle holds something else, which nobody vouches for here": {[]byte("not PEM"), lost, fresh},
	} {
		t.Run(name, func(t *testing.T) {
			config := &admissionregistrationv1.ValidatingWebhookConfiguration{Webhooks: []admissionregistrationv1.ValidatingWebhook{{}}}
			config.Webhooks[0].ClientConfig.CABundle = tc.current
			changed := setBundle(config, fresh, tc.now)
			if got := config.Webhooks[0].ClientConfig.CABundle; !bytes.Equal(got, tc.want) {
				t.Errorf("got %d bytes, want %d", len(got), len(tc.want))
			}
			if changed == bytes.Equal(tc.current, tc.want) {
				t.Errorf("changed is %v", changed)
			}
		})
	}
}
