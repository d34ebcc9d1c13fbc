// Package node adds a node to a cluster, so that Pods run: containerd and runc,
// kubelet, kube-scheduler, kube-proxy with nftables, and CoreDNS, all as processes
// of a sandbox with Config.Containers. It needs root.
//
// Its tests install olmgate from the project's manifests and look at it through
// its Service. They run only with OLMGATE_E2E_NODE=1.
package node

import "github.com/olmgate/olmgate/e2e/cluster"

// Env must be 1 for the tests of this package to run.
const Env = "OLMGATE_E2E_NODE"

// Name of the node.
const Name = "node"

// Addresses besides those of the cluster.
const (
	// nodeIP has to be an address that a device lists.
	nodeIP    = cluster.WebhookAddress
	podSubnet = "10.244.0.0/24"
)

// Names of images that exist only in the node's store.
const (
	pauseImage = "registry.example.com/pause:e2e"
	// OlmgateImage is the reference that AddImage is called with for olmgate.
	OlmgateImage = OlmgateRepository + ":" + OlmgateTag
	// OlmgateRepository and OlmgateTag are the parts of OlmgateImage.
	OlmgateRepository = "registry.example.com/olmgate"
	OlmgateTag        = "e2e"
)
