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

// notHere lists the kinds of OLM's manifests that make no sense without OLM's image
// and without cert-manager; see StartCertManager.
var notHere = map[string]bool{
	"Deployment":    true,
	"Certificate":   true,
	"Issuer":        true,
	"ClusterIssuer": true,
}

// applyOLM applies OLM's CRDs, and then the rest of its manifests.
func (c *Cluster) applyOLM(ctx context.Context) error {
	objects, err := c.olmManifests()
	if err != nil {
		return err
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
	if err := c.applyCertManager(ctx); err != nil {
		return err
	}
	if err := c.Apply(ctx, crds...); err != nil {
		return err
	}
	if _, _, err := c.Kubectl(ctx, nil, "wait", "--for=condition=Established", "--timeout=30s", "crd", "--all"); err != nil {
		return err
	}
	return c.Apply(ctx, others...)
}

// olmObject finds an object without namespace in OLM's manifests.
func (c *Cluster) olmObject(kind, name string) (map[string]any, error) {
	objects, err := c.olmManifests()
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		metadata, _ := object["metadata"].(map[string]any)
		if object["kind"] == kind && metadata["name"] == name {
			return object, nil
		}
	}
	return nil, fmt.Errorf("OLM's manifests have no %s %s", kind, name)
}

// olmManifests reads the objects of OLM's manifests.
func (c *Cluster) olmManifests() ([]map[string]any, error) {
	file := filepath.Join(c.options.OLMDir, "manifests", c.options.FeatureSet+".yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading OLM's manifests: %w", err)
	}
	objects, err := splitManifest(content)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return objects, nil
}
