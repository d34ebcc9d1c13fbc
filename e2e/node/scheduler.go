package node

import (
	"context"
	"path/filepath"

	"github.com/olmgate/olmgate/e2e/cluster"
)

const schedulerPort = "10259"

func (n *Node) startScheduler(ctx context.Context) error {
	kubeconfig, err := n.cluster.ComponentKubeconfig("kube-scheduler", cluster.Subject{CommonName: "system:kube-scheduler"})
	if err != nil {
		return err
	}
	_, err = n.start(ctx, cluster.ProcessSpec{
		Name: "kube-scheduler",
		Path: n.program("kube-scheduler"),
		Args: []string{
			"--kubeconfig=" + kubeconfig,
			"--leader-elect=false",
			"--bind-address=127.0.0.1",
			"--secure-port=" + schedulerPort,
			"--cert-dir=" + filepath.Join(n.dir, "kube-scheduler"),
		},
		Ready: cluster.SelfSignedReady("https://127.0.0.1:" + schedulerPort + "/healthz"),
	})
	return err
}
