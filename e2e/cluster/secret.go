package cluster

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// applyCertificateSecret stores an issued certificate in the form cert-manager
// uses: with its CA beside it.
func (c *Cluster) applyCertificateSecret(ctx context.Context, namespace, name, certificate string, ca *Authority) error {
	cert, err := os.ReadFile(c.pki(certificate + ".crt"))
	if err != nil {
		return fmt.Errorf("reading a certificate: %w", err)
	}
	key, err := os.ReadFile(c.pki(certificate + ".key"))
	if err != nil {
		return fmt.Errorf("reading a certificate's key: %w", err)
	}
	return c.Apply(ctx, corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Type:       corev1.SecretTypeTLS,
		Data:       map[string][]byte{"tls.crt": cert, "tls.key": key, "ca.crt": ca.PEM},
	})
}
