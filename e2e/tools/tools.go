// Package tools builds the real programs the end-to-end tests run against:
// etcd, kube-apiserver, kube-controller-manager, kubectl, catalogd and a small
// registry tool. Each group lives in a Go module of its own, so that versions
// are pinned by go.sum and never meet the dependencies of olmgate.
package tools

import "path/filepath"

// A Group is a set of programs built from one pinned module.
type Group struct {
	// Name of the group, and of its folder below e2e/tools.
	Name string
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
		LinkFlags: "-X " + componentVersion + ".gitVersion=" + KubernetesVersion +
			" -X " + componentVersion + ".gitMajor=1" +
			" -X " + componentVersion + ".gitMinor=37" +
			" -X " + componentVersion + ".gitTreeState=clean" +
			" -X " + componentVersion + ".buildDate=2026-01-01T00:00:00Z",
	},
	{
		Name:       "catalogd",
		FirstBuild: "3 minutes",
		Programs:   map[string]string{"catalogd": "github.com/operator-framework/operator-controller/cmd/catalogd"},
		// The tag upstream builds with: signatures checked in Go, so no cgo.
		Tags: "containers_image_openpgp",
	},
	{
		Name:       "regtool",
		FirstBuild: "20 seconds",
		Programs:   map[string]string{"regtool": "."},
	},
}

// Path returns the path of a program below the folder that Ensure returned.
func Path(dir, program string) string { return filepath.Join(dir, program) }
