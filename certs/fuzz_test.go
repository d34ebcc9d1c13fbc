package certs

import (
	"crypto/rand"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FuzzSecret reads a Secret that anybody with write access may have changed, and brings it in order: whatever is in it,
// there is an authority afterwards that signs for the right names, and the caBundle holds it.
func FuzzSecret(f *testing.F) {
	names := []string{"olmgate-webhook.olmgate-system.svc"}
	p := planner{random: rand.Reader, names: names, authority: 100 * time.Hour, serving: 10 * time.Hour}
	now := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	good, err := newAuthority(rand.Reader, now, names, p.authority)
	if err != nil {
		f.Fatal(err)
	}
	other, err := newAuthority(rand.Reader, now, names, p.authority)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good.certPEM, good.keyPEM, good.certPEM, other.certPEM, other.keyPEM, "2031-05-01T12:00:00Z", "", "")
	f.Add(good.certPEM, other.keyPEM, other.certPEM, []byte{}, []byte{}, "yesterday", "1", "1")
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), []byte("x"), []byte{0}, good.certPEM, good.keyPEM, "9999-12-31T23:59:59Z", "1", "2")
	f.Fuzz(func(t *testing.T, cert, key, ca, nextCert, nextKey []byte, since, rotate, rotated string) {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{RotateAnnotation: rotate, rotatedAnnotation: rotated, sinceAnnotation: since}},
			Data:       map[string][]byte{corev1.TLSCertKey: cert, corev1.TLSPrivateKeyKey: key, caKey: ca, nextCertKey: nextCert, nextKeyKey: nextKey},
		}
		s := situation{now: now}
		s.stored, s.damage = readShared(secret)
		want, _, err := p.plan(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := want.current.usable(now, names); err != nil {
			t.Errorf("the authority afterwards: %v", err)
		}
		if !want.trusted.has(want.current.cert) {
			t.Error("it is not trusted")
		}
		if want.next != nil && !want.trusted.has(want.next.cert) {
			t.Error("the next one is not trusted")
		}
		// What was written is read back as it is, and stays.
		secret.Data = want.data()
		for k, v := range secret.Data {
			if v == nil {
				delete(secret.Data, k)
			}
		}
		if _, err := readShared(secret); err != nil {
			t.Errorf("what was written cannot be read: %v", err)
		}
	})
}
