package node

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/sandbox"
)

const readyTimeout = 60 * time.Second

func (n *Node) startKubelet(ctx context.Context) error {
	kubeconfig, err := n.cluster.ComponentKubeconfig("kubelet", cluster.Subject{
		CommonName: "system:node:" + Name, Organization: "system:nodes",
	})
	if err != nil {
		return err
	}
	// What Pods inherit of the node's own resolver: nothing.
	resolver, err := n.write("resolv.conf", "")
	if err != nil {
		return err
	}
	config, err := yaml.Marshal(n.kubeletConfig(resolver))
	if err != nil {
		return err
	}
	configFile, err := n.write("kubelet.yaml", string(config))
	if err != nil {
		return err
	}
	n.kubelet, err = n.start(ctx, cluster.ProcessSpec{
		Name: "kubelet",
		Path: n.program("kubelet"),
		Args: []string{
			"--config=" + configFile,
			"--kubeconfig=" + kubeconfig,
			"--root-dir=" + filepath.Join(n.dir, "kubelet"),
			"--cert-dir=" + filepath.Join(n.dir, "kubelet", "pki"),
			"--hostname-override=" + Name,
			"--node-ip=" + nodeIP,
		},
		Ready:        n.ready,
		ReadyTimeout: readyTimeout,
	})
	return err
}

// kubeletConfig makes the kubelet keep to its folder and its control group, and
// never throw anything out because the machine's disk is nearly full.
func (n *Node) kubeletConfig(resolver string) map[string]any {
	return map[string]any{
		"apiVersion": "kubelet.config.k8s.io/v1beta1",
		"kind":       "KubeletConfiguration",
		"address":    nodeIP,
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false},
			"webhook":   map[string]any{"enabled": false},
			"x509":      map[string]any{"clientCAFile": n.cluster.ClientCAFile()},
		},
		"authorization":                 map[string]any{"mode": "AlwaysAllow"},
		"cgroupDriver":                  "cgroupfs",
		"cgroupRoot":                    sandbox.CgroupRoot(),
		"failCgroupV1":                  false,
		"failSwapOn":                    false,
		"makeIPTablesUtilChains":        false,
		"localStorageCapacityIsolation": false,
		"containerRuntimeEndpoint":      "unix://" + containerdSocket,
		"clusterDomain":                 clusterDomain,
		"clusterDNS":                    []string{cluster.DNSIP},
		"resolvConf":                    resolver,
		"volumePluginDir":               filepath.Join(n.dir, "volume-plugins"),
		"imageGCHighThresholdPercent":   100,
		"evictionHard":                  map[string]string{"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
	}
}

// ready is satisfied once the node is.
func (n *Node) ready(ctx context.Context) error {
	status, _, err := n.cluster.Kubectl(ctx, nil, "get", "node", Name,
		"-o", `jsonpath={.status.conditions[?(@.type=="Ready")]}`)
	if err != nil {
		return err
	}
	var condition struct{ Status, Message string }
	if err := yaml.Unmarshal([]byte(status), &condition); err != nil {
		return err
	}
	if condition.Status != "True" {
		return fmt.Errorf("the node is not ready: %s", condition.Message)
	}
	return nil
}
