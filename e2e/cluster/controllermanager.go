package cluster

import (
	"context"
	"path/filepath"
	"time"
)

const (
	controllerManagerUser = "system:kube-controller-manager"
	controllerManagerPort = "10257"

	controllersTimeout = 60 * time.Second
)

// StartControllerManager starts kube-controller-manager: with it Deployments make Pods, Services get the endpoints of
// their Pods, deleted namespaces go away with what is in them, and so does what a deleted object owned.
func (c *Cluster) StartControllerManager(ctx context.Context) (*Process, error) {
	kubeconfig, err := c.ComponentKubeconfig("kube-controller-manager", Subject{CommonName: controllerManagerUser})
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(c.Dir, "kube-controller-manager")
	return c.StartProcess(ctx, ProcessSpec{
		Name: "kube-controller-manager",
		Path: c.tool("kube-controller-manager"),
		Args: []string{
			"--kubeconfig=" + kubeconfig,
			"--leader-elect=false",
			"--bind-address=127.0.0.1",
			"--secure-port=" + controllerManagerPort,
			"--cert-dir=" + dir,
			"--service-account-private-key-file=" + c.pki("sa.key"),
			"--root-ca-file=" + c.kubeCA.CertFile,
			"--use-service-account-credentials=true",
		},
		Ready:        c.controllersReady,
		ReadyTimeout: controllersTimeout,
	})
}

// controllersReady is satisfied once the process is healthy and its controllers have begun: the namespace "default" has
// the ServiceAccount and the ConfigMap that Pods need.
func (c *Cluster) controllersReady(ctx context.Context) error {
	if err := SelfSignedReady("https://127.0.0.1:" + controllerManagerPort + "/healthz")(ctx); err != nil {
		return err
	}
	_, _, err := c.Kubectl(ctx, nil, "get", "serviceaccount/default", "configmap/kube-root-ca.crt", "--namespace=default")
	return err
}
