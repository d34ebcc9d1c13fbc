package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	catalogdServiceAccount = "catalogd-controller-manager"
	// podTokenDir is where a pod finds its token. catalogd reads its own name
	// from there even when it is given a kubeconfig.
	podTokenDir = "/run/secrets/kubernetes.io/serviceaccount"

	catalogdHealthPort  = 8081
	catalogdMetricsPort = 7443
	// catalogd's webhook listens on every address, so it keeps off common ports.
	catalogdWebhookPort = 39443

	catalogdStopGrace = 10 * time.Second
)

// StartCatalogd starts catalogd as the pod behind catalogd-service, with the
// ServiceAccount of OLM's manifests, and waits until it is ready. Like every
// catalogd it begins with an empty cache.
func (c *Cluster) StartCatalogd(ctx context.Context) error {
	kubeconfig, err := c.ServiceAccountKubeconfig(ctx, OLMNamespace, catalogdServiceAccount)
	if err != nil {
		return err
	}
	if err := c.mountToken(ctx, OLMNamespace, catalogdServiceAccount); err != nil {
		return err
	}
	if err := c.exposeCatalogd(ctx); err != nil {
		return err
	}
	healthy := URLReady(nil, fmt.Sprintf("http://%s:%d/readyz", CatalogdIP, catalogdHealthPort))
	hooked := addressReady(fmt.Sprintf("%s:%d", CatalogdIP, catalogdWebhookPort))
	serving := addressReady(CatalogdIP + ":443")
	c.catalogd, err = c.StartProcess(ctx, ProcessSpec{
		Name: "catalogd",
		Path: c.tool("catalogd"),
		Args: append([]string{
			"--kubeconfig=" + kubeconfig,
			"--system-namespace=" + OLMNamespace,
			"--external-address=" + CatalogdHost,
			"--catalogs-server-addr=" + CatalogdIP + ":443",
			"--tls-cert=" + c.pki("catalogd.crt"),
			"--tls-key=" + c.pki("catalogd.key"),
			fmt.Sprintf("--health-probe-bind-address=%s:%d", CatalogdIP, catalogdHealthPort),
			fmt.Sprintf("--metrics-bind-address=%s:%d", CatalogdIP, catalogdMetricsPort),
			fmt.Sprintf("--webhook-server-port=%d", catalogdWebhookPort),
			"--pull-cas-dir=" + c.pki("pull"),
			// Emptied at every start: it must never be a folder of the machine's.
			"--cache-dir=" + filepath.Join(c.Dir, "catalogd"),
		}, c.options.CatalogdFlags...),
		Ready: func(ctx context.Context) error {
			for _, ready := range []func(context.Context) error{healthy, hooked, serving} {
				if err := ready(ctx); err != nil {
					return err
				}
			}
			return nil
		},
	})
	return err
}

// StopCatalogd stops catalogd as a deleted pod is stopped, except that the
// EndpointSlice keeps its address: callers are refused.
func (c *Cluster) StopCatalogd() { c.catalogd.Terminate(catalogdStopGrace) }

// Catalogd is the process that was started last.
func (c *Cluster) Catalogd() *Process { return c.catalogd }

// mountToken puts a ServiceAccount's token where a pod would find it.
func (c *Cluster) mountToken(ctx context.Context, namespace, name string) error {
	token, err := c.token(ctx, namespace, name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(podTokenDir, 0o755); err != nil {
		return fmt.Errorf("making the token folder: %w", err)
	}
	files := map[string]string{"token": token, "namespace": namespace, "ca.crt": string(c.kubeCA.PEM)}
	for file, content := range files {
		if err := os.WriteFile(filepath.Join(podTokenDir, file), []byte(content), 0o600); err != nil {
			return fmt.Errorf("writing the pod's %s: %w", file, err)
		}
	}
	return nil
}

// exposeCatalogd puts the process behind OLM's Service, and its certificate
// where cert-manager keeps it in a real installation.
func (c *Cluster) exposeCatalogd(ctx context.Context) error {
	err := c.Expose(ctx, Exposure{
		Namespace:      OLMNamespace,
		Service:        CatalogdService,
		IPs:            []string{CatalogdIP},
		ServiceAccount: catalogdServiceAccount,
		Ports: map[string]int32{
			"https":   443,
			"webhook": catalogdWebhookPort,
			"metrics": catalogdMetricsPort,
		},
	})
	if err != nil {
		return err
	}
	return c.applyCertificateSecret(ctx, OLMNamespace, "catalogd-service-cert-git-version", "catalogd", c.CatalogdCA)
}
