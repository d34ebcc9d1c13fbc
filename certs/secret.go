package certs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// caKey is the key of a Secret with the certificates to trust.
const caKey = "ca.crt"

// fieldOwner is who applies objects.
const fieldOwner = client.FieldOwner("olmgate")

// labels are those of every object that olmgate makes.
var labels = map[string]string{"app.kubernetes.io/name": "olmgate", "app.kubernetes.io/managed-by": "olmgate"}

// attempts bounds how often a write that lost a race is tried again; the next comparison comes soon anyway.
const attempts = 5

// ownSecret is a Secret that the replicas share and write themselves.
//
// A POST cannot be limited by name, since the authorizer does not know the name then. Server-side apply can: so the
// Secret is made empty by it, and then filled by an update of the version that was read, of which one replica wins.
type ownSecret struct {
	client client.Client
	key    client.ObjectKey
	// annotations that it always has.
	annotations map[string]string
}

// read is nil without an error when there is no such Secret.
func (o *ownSecret) read(ctx context.Context) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := o.client.Get(ctx, o.key, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Secret %s: %w; allow get, list and watch of it", o.key, err)
	}
	return secret, nil
}

// create makes the Secret empty and reads it: it may be another replica's by now. Applying it owns no data, so that
// what another replica has put into it meanwhile stays.
func (o *ownSecret) create(ctx context.Context) (*corev1.Secret, error) {
	empty := corev1ac.Secret(o.key.Name, o.key.Namespace).
		WithType(corev1.SecretTypeOpaque).
		WithLabels(labels)
	if len(o.annotations) > 0 {
		empty.WithAnnotations(o.annotations)
	}
	if err := o.client.Apply(ctx, empty, fieldOwner); err != nil {
		return nil, fmt.Errorf("create Secret %s: %w; allow create and patch of it by name", o.key, err)
	}
	secret, err := o.read(ctx)
	if err == nil && secret == nil {
		err = conflict(o.key.Name, "it was deleted just after it was made")
	}
	return secret, err
}

// update writes data and annotations, provided that the Secret is still the one that was read. A value of nil removes
// the key. It reports whether anything had to change.
func (o *ownSecret) update(ctx context.Context, secret *corev1.Secret, data map[string][]byte, annotations map[string]string) (bool, error) {
	want := secret.DeepCopy()
	if want.Data == nil {
		want.Data = map[string][]byte{}
	}
	if want.Annotations == nil {
		want.Annotations = map[string]string{}
	}
	for key, value := range data {
		if value == nil {
			delete(want.Data, key)
		} else {
			want.Data[key] = value
		}
	}
	maps.Copy(want.Annotations, o.annotations)
	maps.Copy(want.Annotations, annotations)
	if maps.EqualFunc(secret.Data, want.Data, bytes.Equal) && maps.Equal(secret.Annotations, want.Annotations) {
		return false, nil
	}
	if err := o.client.Update(ctx, want, fieldOwner); err != nil {
		return false, fmt.Errorf("write Secret %s: %w; allow update of it", o.key, err)
	}
	*secret = *want
	return true, nil
}

// conflict is an error that lostRace recognizes.
func conflict(name, why string) error {
	return apierrors.NewConflict(corev1.Resource("secrets"), name, errors.New(why))
}

// lostRace reports whether an error says that another replica was first.
func lostRace(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }
