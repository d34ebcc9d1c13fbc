package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Options decide what Start starts.
type Options struct {
	// ToolsDir holds the programs that tools.Ensure built. Empty: as Prepare found.
	ToolsDir string
	// OLMDir is the source of OLM v1, whose manifests are applied. Empty: as
	// Prepare found.
	OLMDir string
	// CertManagerDir is the source of cert-manager, whose CRDs are applied. Empty: as Prepare found.
	CertManagerDir string
	// FeatureSet chooses OLM's manifests: "standard" (the default) or "experimental".
	FeatureSet string
	// Dir keeps certificates, data and logs. Empty: a new temporary folder.
	Dir string
	// APIServerFlags are added to kube-apiserver's command line.
	APIServerFlags []string
	// CatalogdFlags are added to catalogd's command line.
	CatalogdFlags []string
	// Nodes makes kube-apiserver one for nodes with kubelets and kube-proxies: it goes through cluster IPs, and is
	// reached by its own, which nothing implements until there is a node. Package node starts one.
	Nodes bool
	// Log, when set, is told what is being done.
	Log func(format string, args ...any)
}

func (o *Options) setDefaults() error {
	if o.FeatureSet == "" {
		o.FeatureSet = "standard"
	}
	if o.ToolsDir == "" {
		o.ToolsDir = os.Getenv(toolsEnv)
	}
	if o.OLMDir == "" {
		o.OLMDir = os.Getenv(olmEnv)
	}
	if o.CertManagerDir == "" {
		o.CertManagerDir = os.Getenv(certsEnv)
	}
	if o.ToolsDir == "" || o.OLMDir == "" || o.CertManagerDir == "" {
		return errors.New("programs and manifests are not known: call cluster.Prepare outside the sandbox")
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if o.Dir == "" {
		dir, err := os.MkdirTemp("", "olmgate-cluster-")
		if err != nil {
			return fmt.Errorf("making a folder for the cluster: %w", err)
		}
		o.Dir = dir
	}
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	for _, sub := range []string{"pki", "logs", "home", "tmp", "kubeconfigs"} {
		if err := os.MkdirAll(filepath.Join(o.Dir, sub), 0o755); err != nil {
			return fmt.Errorf("making a folder for the cluster: %w", err)
		}
	}
	return nil
}
