package certs

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// caKey is the key of the Secret with the certificates to trust: that of the authority and, after a renewal, those
// before it.
const caKey = "ca.crt"

// attempts bounds how often a write that lost a race is tried again; the next comparison comes soon anyway.
const attempts = 5

// sharedAuthority is the authority in the Secret, made when it is missing or no longer usable, and the bundle to trust.
// Several replicas may do this at once: the API server lets one create or update the Secret, the others read it again.
func (s *SelfManaged) sharedAuthority(ctx context.Context) (*authority, []byte, error) {
	var err error
	for range attempts {
		var secret *corev1.Secret
		if secret, err = s.getOrCreateSecret(ctx); err != nil {
			return nil, nil, err
		}
		a, problem := parseAuthority(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
		if problem == nil {
			problem = a.usable(s.Clock.Now(), s.names)
		}
		if problem == nil {
			return a, addToBundle(a.certPEM, secret.Data[caKey], s.Clock.Now()), nil
		}
		s.Log.Warn("the authority is replaced", "secret", s.Namespace+"/"+s.Secret, "because", problem)
		if err = s.replace(ctx, secret); err == nil || apierrors.IsConflict(err) {
			continue
		}
		return nil, nil, fmt.Errorf("replace the authority in Secret %s/%s: %w; allow update of Secrets there, or put a good one into it", s.Namespace, s.Secret, err)
	}
	return nil, nil, fmt.Errorf("replace the authority in Secret %s/%s: lost %d races: %w", s.Namespace, s.Secret, attempts, err)
}

func (s *SelfManaged) getOrCreateSecret(ctx context.Context) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: s.Namespace, Name: s.Secret}
	err := s.Client.Get(ctx, key, secret)
	if err == nil {
		return secret, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read the authority from Secret %s: %w; allow get of Secrets there", key, err)
	}
	a, err := newAuthority(s.Rand, s.Clock.Now(), s.names)
	if err != nil {
		return nil, err
	}
	secret = &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Namespace, Name: s.Secret,
			Labels: map[string]string{"app.kubernetes.io/name": "olmgate", "app.kubernetes.io/managed-by": "olmgate"},
		},
		Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: a.certPEM, corev1.TLSPrivateKeyKey: a.keyPEM, caKey: a.certPEM},
	}
	switch err := s.Client.Create(ctx, secret); {
	case err == nil:
		s.Log.Info("an authority was made", "secret", key.String(), "notAfter", a.cert.NotAfter)
		return secret, nil
	case !apierrors.IsAlreadyExists(err):
		return nil, fmt.Errorf("keep the authority in Secret %s: %w; allow create of Secrets there", key, err)
	}
	// Another replica was first: its authority is the one.
	secret = &corev1.Secret{}
	if err := s.Client.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("read the authority of another replica from Secret %s: %w", key, err)
	}
	return secret, nil
}

// replace puts a new authority into the Secret, provided that it is still the one that was read.
func (s *SelfManaged) replace(ctx context.Context, secret *corev1.Secret) error {
	a, err := newAuthority(s.Rand, s.Clock.Now(), s.names)
	if err != nil {
		return err
	}
	trusted := slices.Concat(secret.Data[caKey], []byte("\n"), secret.Data[corev1.TLSCertKey])
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	secret.Data[caKey] = addToBundle(a.certPEM, trusted, s.Clock.Now())
	secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey] = a.certPEM, a.keyPEM
	return s.Client.Update(ctx, secret)
}
