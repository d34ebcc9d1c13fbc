package node

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/sandbox"
)

// Node is a running node.
type Node struct {
	cluster *cluster.Cluster
	// dir is the node's folder in that of the cluster.
	dir                string
	programs, packages string
	kubelet            *cluster.Process
	containerd         *cluster.Process
}

// Start adds a node to a cluster that was started with Options.Nodes, and what a
// cluster needs for nodes: controllers, a scheduler and a name server. It returns
// when the node is ready and cluster IPs work.
func Start(ctx context.Context, c *cluster.Cluster) (*Node, error) {
	if sandbox.CgroupRoot() == "" {
		return nil, errors.New("a node starts containers: run in a sandbox with Config.Containers")
	}
	programs, packages, err := prepared()
	if err != nil {
		return nil, err
	}
	n := &Node{cluster: c, dir: filepath.Join(c.Dir, "node"), programs: programs, packages: packages}
	if err := os.Mkdir(n.dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the node's folder: %w", err)
	}
	for _, step := range []struct {
		doing string
		do    func(context.Context) error
	}{
		{"routing cluster IPs", func(context.Context) error {
			return sandbox.Attract(netip.MustParsePrefix(cluster.ServiceSubnet))
		}},
		{"starting containerd", n.startContainerd},
		{"adding the pause image", func(ctx context.Context) error {
			return n.AddImage(ctx, pauseImage, filepath.Join(n.programs, "pause"))
		}},
		{"starting kube-controller-manager", func(ctx context.Context) error {
			_, err := c.StartControllerManager(ctx)
			return err
		}},
		{"starting kube-scheduler", n.startScheduler},
		{"starting CoreDNS", n.startDNS},
		{"starting kubelet", n.startKubelet},
		{"starting kube-proxy", n.startProxy},
	} {
		if err := step.do(ctx); err != nil {
			n.Stop()
			return nil, fmt.Errorf("%s: %w", step.doing, err)
		}
	}
	return n, nil
}

// start runs one of the node's programs.
func (n *Node) start(ctx context.Context, spec cluster.ProcessSpec) (*cluster.Process, error) {
	spec.Env = n.environment()
	return n.cluster.StartProcess(ctx, spec)
}

// environment leads to the unpacked packages: their programs call each other, and
// need their libraries.
func (n *Node) environment() []string {
	var libraries []string
	for _, pattern := range []string{"usr/lib/*-linux-gnu*", "lib/*-linux-gnu*"} {
		found, _ := filepath.Glob(filepath.Join(n.packages, pattern)) // the pattern is correct
		libraries = append(libraries, found...)
	}
	path := []string{
		n.programs,
		n.packaged("usr/bin"), n.packaged("usr/sbin"), n.packaged("sbin"),
		"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
	}
	return []string{"PATH=" + strings.Join(path, ":"), "LD_LIBRARY_PATH=" + strings.Join(libraries, ":")}
}

// program is the path of a program that was built.
func (n *Node) program(name string) string { return filepath.Join(n.programs, name) }

// packaged is the path of a file from a Debian package.
func (n *Node) packaged(path string) string { return filepath.Join(n.packages, path) }

// write puts a file into the node's folder and returns its path.
func (n *Node) write(name, content string) (string, error) {
	path := filepath.Join(n.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("making a folder for %s: %w", name, err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		return "", fmt.Errorf("writing %s: %w", name, err)
	}
	return path, nil
}
