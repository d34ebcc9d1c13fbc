package cluster

import (
	"context"
	"encoding/json"
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

// certManagerModule is the release whose CRDs are applied, so that manifests with certificates can be. Its controllers
// do not run.
const certManagerModule = "github.com/cert-manager/cert-manager@v1.21.2"

// CertManagerDir returns the source folder of cert-manager, fetching it when needed: run it where there is a network.
// It is not a module that olmgate's go.mod requires.
func CertManagerDir(ctx context.Context) (string, error) {
	raw, err := goCommand(ctx, "mod", "download", "-json", certManagerModule)
	if err != nil {
		return "", fmt.Errorf("fetching cert-manager's CRDs: %w", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(raw), &module); err != nil {
		return "", fmt.Errorf("looking for cert-manager's CRDs: %w", err)
	}
	return module.Dir, nil
}

// applyCertManager applies cert-manager's CRDs.
func (c *Cluster) applyCertManager(ctx context.Context) error {
	_, _, err := c.Kubectl(ctx, nil, "apply", "--server-side", "-f", filepath.Join(c.options.CertManagerDir, "deploy", "crds"))
	if err != nil {
		return fmt.Errorf("applying cert-manager's CRDs: %w", err)
	}
	return nil
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
