package cluster

import (
	"context"
	"os"
	"path/filepath"
)

// makeCertificates makes three authorities, as a real installation has them:
// the API server's, OLM's (catalogd) and the registry's.
func (c *Cluster) makeCertificates(context.Context) error {
	var err error
	dir := c.pki("")
	if c.kubeCA, err = NewAuthority(dir, "kubernetes-ca"); err != nil {
		return err
	}
	if c.CatalogdCA, err = NewAuthority(dir, "olmv1-ca"); err != nil {
		return err
	}
	c.CAFile = c.CatalogdCA.CertFile
	// catalogd reads files that end in .crt from a folder.
	pullDir := c.pki("pull")
	if err := os.MkdirAll(pullDir, 0o755); err != nil {
		return err
	}
	registryCA, err := NewAuthority(pullDir, "registry-ca")
	if err != nil {
		return err
	}
	registryCA.dir = dir

	leaves := []struct {
		authority *Authority
		name      string
		subject   Subject
	}{
		{c.kubeCA, "apiserver", Subject{
			CommonName: "kube-apiserver",
			DNSNames:   []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
			IPs:        []string{"127.0.0.1", apiIP, "10.0.0.1"},
		}},
		{c.kubeCA, "admin", Subject{CommonName: "admin", Organization: "system:masters"}},
		{c.CatalogdCA, "catalogd", Subject{
			CommonName: "catalogd",
			DNSNames:   []string{"localhost", CatalogdHost, CatalogdHost + ".cluster.local"},
		}},
		{registryCA, "registry", Subject{CommonName: "registry", IPs: []string{registryIP}}},
	}
	for _, leaf := range leaves {
		if _, _, err := leaf.authority.Issue(leaf.name, leaf.subject); err != nil {
			return err
		}
	}
	return writeServiceAccountKey(c.pki("sa.key"), c.pki("sa.pub"))
}

// pki returns the path of a file among the cluster's certificates.
func (c *Cluster) pki(name string) string { return filepath.Join(c.Dir, "pki", name) }
