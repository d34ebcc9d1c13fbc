package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const olmModule = "github.com/operator-framework/operator-controller"

// OLMDir returns the source folder of the OLM v1 release that olmgate's go.mod
// requires, fetching it when needed: run it where there is a network.
func OLMDir(ctx context.Context) (string, error) {
	if _, err := goCommand(ctx, "mod", "download", olmModule); err != nil {
		return "", fmt.Errorf("fetching OLM's manifests: %w", err)
	}
	dir, err := goCommand(ctx, "list", "-m", "-f", "{{.Dir}}", olmModule)
	if err != nil {
		return "", fmt.Errorf("looking for OLM's manifests: %w", err)
	}
	return dir, nil
}

func goCommand(ctx context.Context, args ...string) (string, error) {
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// notHere lists the kinds of OLM's manifests that make no sense without nodes
// and without cert-manager.
var notHere = map[string]bool{
	"Deployment":    true,
	"Certificate":   true,
	"Issuer":        true,
	"ClusterIssuer": true,
}

// applyOLM applies OLM's CRDs, and then the rest of its manifests.
func (c *Cluster) applyOLM(ctx context.Context) error {
	file := filepath.Join(c.options.OLMDir, "manifests", c.options.FeatureSet+".yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading OLM's manifests: %w", err)
	}
	objects, err := splitManifest(content)
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	var crds, others []any
	for _, object := range objects {
		switch kind := object["kind"].(string); {
		case kind == "CustomResourceDefinition":
			crds = append(crds, object)
		case kind == "MutatingWebhookConfiguration":
			trustWebhooks(object, c.CatalogdCA.PEM)
			others = append(others, object)
		case !notHere[kind]:
			others = append(others, object)
		}
	}
	if err := c.Apply(ctx, crds...); err != nil {
		return err
	}
	if _, _, err := c.Kubectl(ctx, nil, "wait", "--for=condition=Established", "--timeout=30s", "crd", "--all"); err != nil {
		return err
	}
	return c.Apply(ctx, others...)
}
