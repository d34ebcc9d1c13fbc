package node

import (
	"context"
	"strings"

	"github.com/olmgate/olmgate/e2e/cluster"
)

// proxyHealth answers once cluster IPs work.
const proxyHealth = "127.0.0.1:10256"

// proxyConfig leaves connection tracking as it is: its limits are the machine's.
const proxyConfig = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clientConnection: {kubeconfig: {{kubeconfig}}}
clusterCIDR: ` + podSubnet + `
hostnameOverride: ` + Name + `
healthzBindAddress: ` + proxyHealth + `
metricsBindAddress: 127.0.0.1:10249
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
`

func (n *Node) startProxy(ctx context.Context) error {
	kubeconfig, err := n.cluster.ComponentKubeconfig("kube-proxy", cluster.Subject{CommonName: "system:kube-proxy"})
	if err != nil {
		return err
	}
	config, err := n.write("kube-proxy.yaml", strings.ReplaceAll(proxyConfig, "{{kubeconfig}}", kubeconfig))
	if err != nil {
		return err
	}
	_, err = n.start(ctx, cluster.ProcessSpec{
		Name:  "kube-proxy",
		Path:  n.program("kube-proxy"),
		Args:  []string{"--config=" + config},
		Ready: cluster.URLReady(nil, "http://"+proxyHealth+"/healthz"),
	})
	return err
}
