// Package tools builds the real programs the end-to-end tests run against:
// etcd, kube-apiserver, kube-controller-manager, kubectl, catalogd, cert-manager
// and a small registry tool, and for a node that runs Pods kubelet, kube-proxy,
// kube-scheduler and CoreDNS. Programs live in Go modules of their own, so that
// versions are pinned by go.sum and never meet the dependencies of olmgate. What
// a node needs besides, containerd first of all, comes from Debian packages.
package tools

import "path/filepath"

// A Group is a set of programs built from one pinned module.
type Group struct {
	// Name of the group.
	Name string
	// Module is the folder below e2e/tools that pins the programs; empty: the one
	// with the group's name.
	Module string
	// OnRequest groups are left out unless one of their programs is named.
	OnRequest bool
	// Programs maps the name of each binary to its package path.
	Programs map[string]string
	// Tags are the Go build tags, comma separated.
	Tags string
	// LinkFlags are appended to "-s -w".
	LinkFlags string
	// FirstBuild says how long building takes with an empty Go cache on 2 cores.
	FirstBuild string
}

// KubernetesVersion is what the built kube-apiserver answers on /version.
const KubernetesVersion = "v1.37.2"

const componentVersion = "k8s.io/component-base/version"

// kubernetesFlags make the programs know their version.
const kubernetesFlags = "-X " + componentVersion + ".gitVersion=" + KubernetesVersion +
	" -X " + componentVersion + ".gitMajor=1" +
	" -X " + componentVersion + ".gitMinor=37" +
	" -X " + componentVersion + ".gitTreeState=clean" +
	" -X " + componentVersion + ".buildDate=2026-01-01T00:00:00Z"

// Groups lists every program the end-to-end tests can use.
var Groups = []Group{
	{
		Name:       "kube",
		FirstBuild: "5 to 10 minutes",
		Programs: map[string]string{
			"etcd":                    "go.etcd.io/etcd/server/v3",
			"kube-apiserver":          "k8s.io/kubernetes/cmd/kube-apiserver",
			"kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
			"kubectl":                 "k8s.io/kubernetes/cmd/kubectl",
		},
		LinkFlags: kubernetesFlags,
	},
	{
		Name:       "catalogd",
		FirstBuild: "3 minutes",
		Programs:   map[string]string{"catalogd": "github.com/operator-framework/operator-controller/cmd/catalogd"},
		// The tag upstream builds with: signatures checked in Go, so no cgo.
		Tags: "containers_image_openpgp",
	},
	{
		Name:       "certmanager",
		FirstBuild: "2 to 5 minutes",
		Programs:   map[string]string{"cert-manager": "."},
	},
	{
		Name:       "regtool",
		FirstBuild: "20 seconds",
		Programs:   map[string]string{"regtool": "."},
	},
	{
		Name:       "node",
		Module:     "kube",
		OnRequest:  true,
		FirstBuild: "a minute after kube, 5 minutes without",
		Programs: map[string]string{
			"kube-proxy":     "k8s.io/kubernetes/cmd/kube-proxy",
			"kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
			"kubelet":        "k8s.io/kubernetes/cmd/kubelet",
		},
		LinkFlags: kubernetesFlags,
	},
	{
		Name:       "dns",
		OnRequest:  true,
		FirstBuild: "a minute",
		Programs:   map[string]string{"coredns": "."},
	},
	{
		Name:       "pause",
		OnRequest:  true,
		FirstBuild: "5 seconds",
		Programs:   map[string]string{"pause": "."},
	},
}

// NodePrograms are the programs of a node, none of which is built unless named.
var NodePrograms = []string{"coredns", "kube-proxy", "kube-scheduler", "kubelet", "pause"}

// dir is the folder of the module that pins the group's programs.
func (g Group) dir(root string) string {
	module := g.Module
	if module == "" {
		module = g.Name
	}
	return filepath.Join(root, "e2e", "tools", module)
}

// Path returns the path of a program below the folder that Ensure returned.
func Path(dir, program string) string { return filepath.Join(dir, program) }
