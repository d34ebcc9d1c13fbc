package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const kubeconfigName = "olmgate-e2e"

// writeAdminKubeconfig writes a kubeconfig that needs no other file.
func (c *Cluster) writeAdminKubeconfig(path, server string) error {
	cert, err := os.ReadFile(c.pki("admin.crt"))
	if err != nil {
		return fmt.Errorf("reading the administrator's certificate: %w", err)
	}
	key, err := os.ReadFile(c.pki("admin.key"))
	if err != nil {
		return fmt.Errorf("reading the administrator's key: %w", err)
	}
	return c.writeKubeconfig(path, server, &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key})
}

// ServiceAccountKubeconfig writes a kubeconfig with a fresh token of a
// ServiceAccount, so that a process has the rights its pod would have.
func (c *Cluster) ServiceAccountKubeconfig(ctx context.Context, namespace, name string) (path string, err error) {
	token, err := c.token(ctx, namespace, name)
	if err != nil {
		return "", err
	}
	path = filepath.Join(c.Dir, "kubeconfigs", namespace+"-"+name)
	return path, c.writeKubeconfig(path, "https://"+APIAddress, &clientcmdapi.AuthInfo{Token: token})
}

// token returns a token of a ServiceAccount, good for longer than any test.
func (c *Cluster) token(ctx context.Context, namespace, name string) (string, error) {
	token, _, err := c.Kubectl(ctx, nil, "create", "token", name, "--namespace="+namespace, "--duration=24h")
	if err != nil {
		return "", fmt.Errorf("creating a token for ServiceAccount %s/%s: %w", namespace, name, err)
	}
	return strings.TrimSpace(token), nil
}

func (c *Cluster) writeKubeconfig(path, server string, user *clientcmdapi.AuthInfo) error {
	config := clientcmdapi.NewConfig()
	config.Clusters[kubeconfigName] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: c.kubeCA.PEM}
	config.AuthInfos[kubeconfigName] = user
	config.Contexts[kubeconfigName] = &clientcmdapi.Context{Cluster: kubeconfigName, AuthInfo: kubeconfigName}
	config.CurrentContext = kubeconfigName
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("writing kubeconfig %s: %w", path, err)
	}
	return nil
}
