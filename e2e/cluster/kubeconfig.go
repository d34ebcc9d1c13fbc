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
	return c.writeCertificateKubeconfig(path, server, c.pki("admin.crt"), c.pki("admin.key"))
}

// ClientCAFile is the authority that signed what API clients identify themselves with.
func (c *Cluster) ClientCAFile() string { return c.kubeCA.CertFile }

// ComponentKubeconfig writes a kubeconfig with a certificate for a part of
// Kubernetes, whose rights go by its name and group.
func (c *Cluster) ComponentKubeconfig(name string, subject Subject) (path string, err error) {
	certFile, keyFile, err := c.kubeCA.Issue(name, subject)
	if err != nil {
		return "", err
	}
	path = filepath.Join(c.Dir, "kubeconfigs", name)
	return path, c.writeCertificateKubeconfig(path, "https://"+APIAddress, certFile, keyFile)
}

func (c *Cluster) writeCertificateKubeconfig(path, server, certFile, keyFile string) error {
	cert, err := os.ReadFile(certFile)
	if err != nil {
		return fmt.Errorf("reading a client's certificate: %w", err)
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return fmt.Errorf("reading a client's key: %w", err)
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
