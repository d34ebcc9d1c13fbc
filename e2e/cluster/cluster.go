package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/olmgate/olmgate/e2e/sandbox"
)

// Cluster is a running control plane. Its methods may be used concurrently
// except where they stop or start the same process.
type Cluster struct {
	// Dir holds everything the cluster writes.
	Dir string
	// KubeconfigPath is the administrator's kubeconfig, for use in the sandbox.
	KubeconfigPath string
	// CAFile is the CA that signed catalogd's certificate.
	CAFile string
	// CatalogdCA can issue catalogd another certificate.
	CatalogdCA *Authority

	options   Options
	kubeCA    *Authority
	mu        sync.Mutex
	processes []*Process // in order of their start
	apiserver *Process
	catalogd  *Process
}

// Start brings up etcd, kube-apiserver, OLM's manifests, a registry and
// catalogd. When something fails, everything is stopped again and the error
// holds the end of the log that tells why.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	if !sandbox.Inside() {
		return nil, errors.New("a cluster uses fixed addresses: start it inside a sandbox")
	}
	if err := options.setDefaults(); err != nil {
		return nil, err
	}
	c := &Cluster{
		Dir:            options.Dir,
		KubeconfigPath: filepath.Join(options.Dir, "admin.kubeconfig"),
		options:        options,
	}
	steps := []struct {
		doing string
		do    func(context.Context) error
	}{
		{"making certificates", c.makeCertificates},
		{"starting etcd", c.startEtcd},
		{"starting kube-apiserver", c.startAPIServer},
		{"applying OLM's manifests", c.applyOLM},
		{"starting the registry", c.startRegistry},
		{"starting catalogd", c.StartCatalogd},
	}
	for _, step := range steps {
		options.Log("%s", step.doing)
		if err := step.do(ctx); err != nil {
			c.Stop()
			return nil, fmt.Errorf("%s: %w (logs in %s)", step.doing, err, filepath.Join(c.Dir, "logs"))
		}
	}
	return c, nil
}

// Stop ends every process of the cluster, the last started first. Data is not
// written out: a stopped cluster cannot be started again.
func (c *Cluster) Stop() {
	c.mu.Lock()
	processes := c.processes
	c.processes = nil
	c.mu.Unlock()
	for i := len(processes) - 1; i >= 0; i-- {
		processes[i].Kill()
	}
}

// Remove stops the cluster and deletes its folder, logs included.
func (c *Cluster) Remove() error {
	c.Stop()
	if err := os.RemoveAll(c.Dir); err != nil {
		return fmt.Errorf("removing the cluster's folder: %w", err)
	}
	return nil
}
