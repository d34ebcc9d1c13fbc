package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// certManagerModule is the release whose CRDs are applied; e2e/tools/certmanager pins its controllers.
const certManagerModule = "github.com/cert-manager/cert-manager@v1.21.2"

// CertManagerNamespace is where cert-manager keeps the Secrets that ClusterIssuers name.
const CertManagerNamespace = "cert-manager"

// OLMIssuer is the ClusterIssuer of OLM's manifests, which signs catalogd's certificate.
const OLMIssuer = "olmv1-ca"

// issuerTimeout bounds the start of cert-manager, its caches included.
const issuerTimeout = 60 * time.Second

// CertManagerDir returns the source folder of cert-manager, fetching it when needed: run it where there is a network.
// It is not a module that olmgate's go.mod requires.
func CertManagerDir(ctx context.Context) (string, error) {
	raw, err := goCommand(ctx, "mod", "download", "-json", certManagerModule)
	if err != nil {
		return "", fmt.Errorf("fetching cert-manager's CRDs: %w", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(raw), &module); err != nil {
		return "", fmt.Errorf("looking for cert-manager's CRDs: %w", err)
	}
	return module.Dir, nil
}

// applyCertManager applies cert-manager's CRDs, so that manifests with certificates can be applied.
func (c *Cluster) applyCertManager(ctx context.Context) error {
	_, _, err := c.Kubectl(ctx, nil, "apply", "--server-side", "-f", filepath.Join(c.options.CertManagerDir, "deploy", "crds"))
	if err != nil {
		return fmt.Errorf("applying cert-manager's CRDs: %w", err)
	}
	return nil
}

// StartCertManager starts cert-manager's controllers and its cainjector, with an administrator's rights, and OLM's
// ClusterIssuer with the authority that signed catalogd's certificate. It returns once that issuer is ready.
func (c *Cluster) StartCertManager(ctx context.Context) (*Process, error) {
	if err := c.applyOLMIssuer(ctx); err != nil {
		return nil, fmt.Errorf("making ClusterIssuer %s: %w", OLMIssuer, err)
	}
	return c.StartProcess(ctx, ProcessSpec{
		Name:         "cert-manager",
		Path:         c.tool("cert-manager"),
		Args:         []string{"-kubeconfig=" + c.KubeconfigPath, "-namespace=" + CertManagerNamespace},
		Ready:        c.issuerReady,
		ReadyTimeout: issuerTimeout,
	})
}

// issuerReady is satisfied once cert-manager has looked at OLM's ClusterIssuer.
func (c *Cluster) issuerReady(ctx context.Context) error {
	status, _, err := c.Kubectl(ctx, nil, "get", "clusterissuer", OLMIssuer,
		"-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
	if err == nil && status != string(metav1.ConditionTrue) {
		err = errors.New("ClusterIssuer " + OLMIssuer + " is not ready")
	}
	return err
}

// applyOLMIssuer applies what OLM's manifests have in the namespace of cert-manager. Their authority is not made by
// cert-manager here: catalogd's certificate was needed before.
func (c *Cluster) applyOLMIssuer(ctx context.Context) error {
	issuer, err := c.olmObject("ClusterIssuer", OLMIssuer)
	if err != nil {
		return err
	}
	key, err := c.CatalogdCA.keyPEM()
	if err != nil {
		return err
	}
	return c.Apply(ctx,
		corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: CertManagerNamespace},
		},
		corev1.Secret{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: CertManagerNamespace, Name: OLMIssuer,
				Annotations: map[string]string{"cert-manager.io/allow-direct-injection": "true"},
			},
			Type: corev1.SecretTypeTLS,
			Data: map[string][]byte{"tls.crt": c.CatalogdCA.PEM, "tls.key": key, "ca.crt": c.CatalogdCA.PEM},
		},
		issuer,
	)
}
