package node

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/olmgate/olmgate/e2e/cluster"
)

const (
	// Both are gone with the sandbox, which has a /run of its own.
	containerdState  = "/run/containerd"
	containerdSocket = containerdState + "/containerd.sock"
	// criNamespace is where the kubelet's containers and images are.
	criNamespace = "k8s.io"
)

// containerdConfig: oom_score_adj cannot always be lowered here, and packets
// between Pods pass the node, as kube-proxy needs it.
const containerdConfig = `version = 2
root = "{{dir}}/containerd"
state = "` + containerdState + `"
[grpc]
  address = "` + containerdSocket + `"
[plugins."io.containerd.internal.v1.opt"]
  path = "{{dir}}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "` + pauseImage + `"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "{{packages}}/usr/sbin/runc"
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{{packages}}/usr/lib/cni"
    conf_dir = "{{dir}}/cni"
`

// cniConfig gives each Pod a device of its own: on a bridge, answers between two
// Pods would not pass the node, which has to undo what kube-proxy did.
const cniConfig = `{
  "cniVersion": "1.0.0",
  "name": "pods",
  "plugins": [{
    "type": "ptp",
    "ipMasq": false,
    "ipam": {
      "type": "host-local",
      "dataDir": "/run/cni",
      "ranges": [[{"subnet": "` + podSubnet + `"}]],
      "routes": [{"dst": "0.0.0.0/0"}]
    }
  }]
}
`

func (n *Node) startContainerd(ctx context.Context) error {
	if _, err := n.write("cni/10-pods.conflist", cniConfig); err != nil {
		return err
	}
	config, err := n.write("containerd.toml",
		strings.NewReplacer("{{dir}}", n.dir, "{{packages}}", n.packages).Replace(containerdConfig))
	if err != nil {
		return err
	}
	n.containerd, err = n.start(ctx, cluster.ProcessSpec{
		Name: "containerd",
		Path: n.packaged("usr/bin/containerd"),
		Args: []string{"--config=" + config},
		Ready: func(ctx context.Context) error {
			_, err := n.ctr(ctx, "version")
			return err
		},
	})
	return err
}

// ctr runs containerd's own client.
func (n *Node) ctr(ctx context.Context, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, n.packaged("usr/bin/ctr"),
		append([]string{"--address=" + containerdSocket, "--namespace=" + criNamespace}, args...)...)
	cmd.Env = n.environment()
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("ctr %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// AddImage makes an image of a static program and puts it into the node's store.
func (n *Node) AddImage(ctx context.Context, reference, program string) error {
	archive := filepath.Join(n.dir, filepath.Base(program)+".tar")
	if err := writeImage(archive, reference, program); err != nil {
		return fmt.Errorf("making image %s: %w", reference, err)
	}
	if _, err := n.ctr(ctx, "images", "import", archive); err != nil {
		return fmt.Errorf("adding image %s: %w", reference, err)
	}
	return nil
}

// PID returns the process id, in the sandbox, of a container's first process. The
// id of the container is that of its Pod's status: "containerd://...".
func (n *Node) PID(ctx context.Context, containerID string) (int, error) {
	id := strings.TrimPrefix(containerID, "containerd://")
	tasks, err := n.ctr(ctx, "tasks", "list")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(tasks) {
		var task, status string
		var pid int
		if _, err := fmt.Sscan(line, &task, &pid, &status); err == nil && task == id && status == "RUNNING" {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("container %s is not running", id)
}
