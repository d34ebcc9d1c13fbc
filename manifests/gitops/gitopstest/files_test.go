package gitopstest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// keyPrefix is where Argo CD looks for the script of a kind; group and kind follow, joined by an underscore.
const keyPrefix = "resource.customizations.health."

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readYAML decodes a file strictly.
func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(read(t, file)), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// configMap is what these tests read of one.
type configMap struct {
	APIVersion string                           `json:"apiVersion"`
	Kind       string                           `json:"kind"`
	Metadata   struct{ Name, Namespace string } `json:"metadata"`
	Data       map[string]string                `json:"data"`
}

// TestThePatchHasTheScripts compares argocd-cm.yaml with the scripts; -update writes it.
func TestThePatchHasTheScripts(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Made from the scripts beside it by: go test . -update (in gitopstest). Change those.\n")
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: argocd-cm\ndata:\n")
	scripts := map[string]string{}
	for _, k := range kinds(t) {
		key := keyPrefix + group + "_" + k.kind
		scripts[key] = k.lua
		b.WriteString("  " + key + ": |\n")
		for line := range strings.Lines(k.lua) {
			if line != "\n" {
				line = "    " + line
			}
			b.WriteString(line)
		}
	}
	file := argoDir + "/argocd-cm.yaml"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(b.String(), read(t, file)); diff != "" {
		t.Errorf("run with -update after looking at this: %s", diff)
	}
	var patch configMap
	readYAML(t, file, &patch)
	if diff := cmp.Diff(scripts, patch.Data); diff != "" {
		t.Errorf("the patch does not hold the scripts as they are: %s", diff)
	}
	files, err := filepath.Glob(argoDir + "/*.lua")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(scripts) {
		t.Errorf("%d scripts are tested, there are %v", len(scripts), files)
	}
}

// TestTheComponentAddsToTheConfigMap builds a kustomization that has Argo CD's ConfigMap, with and without a namespace.
func TestTheComponentAddsToTheConfigMap(t *testing.T) {
	for name, namespace := range map[string]string{"in a namespace": "argocd", "without a namespace": ""} {
		t.Run(name, func(t *testing.T) {
			disk := filesys.MakeFsInMemory()
			for file, text := range map[string]string{
				"/component/kustomization.yaml": read(t, argoDir+"/kustomization.yaml"),
				"/component/argocd-cm.yaml":     read(t, argoDir+"/argocd-cm.yaml"),
				"/mine/kustomization.yaml":      "resources: [cm.yaml]\ncomponents: [../component]\n",
				"/mine/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: '" + namespace + "'}\ndata: {url: https://example.com}\n---\n" +
					"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cmd-params-cm}\n",
			} {
				if err := disk.WriteFile(file, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, "/mine")
			if err != nil {
				t.Fatal(err)
			}
			data := map[string]map[string]string{}
			for _, r := range resources.Resources() {
				data[r.GetNamespace()+"/"+r.GetName()] = r.GetDataMap()
			}
			got := slices.Sorted(maps.Keys(data[namespace+"/argocd-cm"]))
			if diff := cmp.Diff([]string{keyPrefix + group + "_ClusterCatalog", keyPrefix + group + "_ClusterExtension", "url"}, got); diff != "" {
				t.Errorf("argocd-cm: %s", diff)
			}
			if other := data["/argocd-cmd-params-cm"]; len(other) != 0 {
				t.Errorf("another ConfigMap is changed: %v", other)
			}
		})
	}
}

func TestTheExamplesForFluxWait(t *testing.T) {
	for _, file := range []string{"extensions.yaml", "catalogs.yaml"} {
		switch k := kustomization(t, file); {
		case k.APIVersion != "kustomize.toolkit.fluxcd.io/v1" || k.Kind != "Kustomization":
			t.Errorf("%s is a %s %s", file, k.APIVersion, k.Kind)
		case !k.Spec.Wait:
			t.Errorf("%s: without wait no expression is asked", file)
		case k.Spec.Prune:
			t.Errorf("%s: the example uninstalls what leaves the repository", file)
		case k.Name+".yaml" != file:
			t.Errorf("%s is named %s", file, k.Name)
		}
	}
}
