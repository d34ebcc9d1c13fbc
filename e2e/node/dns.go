package node

import (
	"context"
	"strings"

	"github.com/olmgate/olmgate/e2e/cluster"
)

const (
	clusterDomain = "cluster.local"
	dnsHealth     = cluster.DNSIP + ":8181"
)

// corefile answers for Services and for nothing else: there is no outside.
const corefile = `.:53 {
    bind ` + cluster.DNSIP + `
    ready ` + dnsHealth + `
    errors
    kubernetes ` + clusterDomain + ` {
        kubeconfig {{kubeconfig}}
    }
}
`

func (n *Node) startDNS(ctx context.Context) error {
	config, err := n.write("Corefile", strings.ReplaceAll(corefile, "{{kubeconfig}}", n.cluster.KubeconfigPath))
	if err != nil {
		return err
	}
	_, err = n.start(ctx, cluster.ProcessSpec{
		Name:  "coredns",
		Path:  n.program("coredns"),
		Args:  []string{"-conf=" + config},
		Ready: cluster.URLReady(nil, "http://"+dnsHealth+"/ready"),
	})
	return err
}
