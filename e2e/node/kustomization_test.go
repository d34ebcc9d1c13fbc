package node_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/olmgate/olmgate/e2e/node"
	"github.com/olmgate/olmgate/e2e/tools"
)

// What is applied, in the folder of the project's manifests.
const (
	overlay         = "overlays/enforce"
	doctorComponent = "components/doctor"
)

// neverPull makes the kubelet take the image from the node's store.
const neverPull = `
- op: replace
  path: /spec/template/spec/containers/0/imagePullPolicy
  value: Never
`

// kustomization writes one around the overlay and components, which changes the image and imagePullPolicy.
func (w *world) kustomization(components []string) (string, error) {
	root, err := tools.ModuleRoot()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(w.Dir, "kustomization-")
	if err != nil {
		return "", err
	}
	// kustomize takes folders only by relative paths.
	relative, err := filepath.Rel(dir, filepath.Join(root, "manifests"))
	if err != nil {
		return "", err
	}
	var added []string
	for _, component := range components {
		added = append(added, filepath.Join(relative, component))
	}
	content, err := yaml.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1",
		"kind":       "Kustomization",
		"resources":  []string{filepath.Join(relative, overlay)},
		"components": added,
		"images": []any{map[string]any{
			"name": "olmgate", "newName": node.OlmgateRepository, "newTag": node.OlmgateTag,
		}},
		"patches": []any{
			map[string]any{"target": map[string]any{"kind": "Deployment|Job"}, "patch": neverPull},
		},
	})
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), content, 0o644)
}

// hasDoctor reports whether the manifests have the Job that checks an installation.
func hasDoctor() (bool, error) {
	root, err := tools.ModuleRoot()
	if err != nil {
		return false, err
	}
	_, err = os.Stat(filepath.Join(root, "manifests", doctorComponent, "kustomization.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
