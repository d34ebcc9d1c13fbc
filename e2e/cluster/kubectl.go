package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

// Kubectl runs kubectl as the administrator. The error holds what kubectl wrote
// to its standard error.
func (c *Cluster) Kubectl(ctx context.Context, stdin []byte, args ...string) (stdout, stderr string, err error) {
	return c.KubectlAs(ctx, c.KubeconfigPath, stdin, args...)
}

// KubectlAs runs kubectl with another kubeconfig.
func (c *Cluster) KubectlAs(ctx context.Context, kubeconfig string, stdin []byte, args ...string) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, c.tool("kubectl"), args...)
	cmd.Env = append(c.environment(), "KUBECONFIG="+kubeconfig)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &errs
	if err := cmd.Run(); err != nil {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
		return out.String(), errs.String(), err
	}
	return out.String(), errs.String(), nil
}

// Apply applies objects on the server side. They may be typed objects with their
// kind set, or maps.
func (c *Cluster) Apply(ctx context.Context, objects ...any) error {
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
	if err != nil {
		return fmt.Errorf("encoding objects to apply: %w", err)
	}
	_, _, err = c.Kubectl(ctx, list, "apply", "--server-side", "--force-conflicts", "-f", "-")
	return err
}
