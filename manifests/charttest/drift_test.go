package charttest

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// TestTheChartIsTheKustomization compares what Helm renders with what kustomize does, object by object. What may differ
// is in normal.
func TestTheChartIsTheKustomization(t *testing.T) {
	for name, tc := range map[string]struct {
		values, namespace string
		resource          string
		components        []string
		transformers      []string
		// unasked is what kustomize renders for status writers without asking whether there are any.
		unasked []string
	}{
		"enforce":     {values: "{}", resource: "overlays/enforce", components: []string{"doctor"}},
		"warn":        {values: "mode: Warn", resource: "overlays/warn", components: []string{"doctor"}},
		"fail-closed": {values: "webhook: {failurePolicy: Fail}", resource: "overlays/fail-closed", components: []string{"doctor"}},
		"enforce-cert-manager": {
			values: "certificates: {source: CertManager}\ndoctor: {enabled: false}", resource: "overlays/enforce-cert-manager",
		},
		"cert-manager-create": {
			values: "certificates: {source: CertManager, certManager: {create: true}}", resource: "base", components: []string{"cert-manager-create", "doctor"},
		},
		"openshift": {values: "certificates: {source: OpenShift}", resource: "base", components: []string{"doctor", "openshift"}},
		"network-policy": {
			values: "networkPolicy: {enabled: true}", resource: "overlays/enforce", components: []string{"network-policy", "doctor"},
			unasked: []string{"NetworkPolicy olmgate-status-writer"},
		},
		"prometheus": {
			values:   "prometheus: {serviceMonitor: {enabled: true}, rules: {enabled: true}, dashboard: {enabled: true}}",
			resource: "overlays/enforce", components: []string{"prometheus", "doctor"},
			unasked: []string{"Service olmgate-status-writer", "ServiceMonitor olmgate-status-writer"},
		},
		"status-writer": {values: "statusWriter: {enabled: true}", resource: "overlays/enforce", components: []string{"status-writer", "doctor"}},
		"status-writer, monitored": {
			values:   "statusWriter: {enabled: true}\nnetworkPolicy: {enabled: true}\nprometheus: {serviceMonitor: {enabled: true}, rules: {enabled: true}, dashboard: {enabled: true}}",
			resource: "overlays/enforce", components: []string{"status-writer", "network-policy", "prometheus", "doctor"},
		},
		"status-writer on OpenShift": {
			values: "statusWriter: {enabled: true}\ncertificates: {source: OpenShift}", resource: "base", components: []string{"status-writer", "doctor", "openshift"},
		},
		"status-writer in another namespace": {
			values: "statusWriter: {enabled: true}", namespace: "gatekeepers", resource: "overlays/enforce",
			components: []string{"status-writer", "doctor"}, transformers: []string{"transformers/namespace"},
		},
		"write-status": {
			values: "mode: Warn\nstatusWriter: {enabled: true, inProcess: true}", resource: "overlays/warn", components: []string{"write-status", "doctor"},
		},
		"admission-policy": {values: "admissionPolicy: {enabled: true}", resource: "overlays/enforce", components: []string{"admission-policy", "doctor"}},
		"another namespace": {
			values: "certificates: {source: CertManager}", namespace: "gatekeepers", resource: "overlays/enforce-cert-manager",
			components: []string{"doctor"}, transformers: []string{"transformers/namespace"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := tc.namespace
			if in == "" {
				in = namespace
			}
			v := values(t, tc.values)
			v["image"] = map[string]any{"tag": "latest"}
			files, err := render(v, in)
			if err != nil {
				t.Fatal(err)
			}
			var rendered []string
			for file, text := range files {
				if path.Ext(file) == ".yaml" {
					rendered = append(rendered, strings.Split("\n"+text, "\n---\n")...)
				}
			}
			helm := objects(t, rendered)
			kustomize := objects(t, strings.Split(build(t, tc.namespace, tc.resource, tc.components, tc.transformers), "\n---\n"))
			// Helm makes the namespace when asked to.
			delete(kustomize, "Namespace "+in)
			for _, key := range tc.unasked {
				if kustomize[key] == nil {
					t.Errorf("kustomize has no %s", key)
				}
				delete(kustomize, key)
			}
			if diff := gocmp.Diff(kustomize, helm); diff != "" {
				t.Errorf("kustomize (-) and Helm (+) differ: %s", diff)
			}
		})
	}
}

// build is what kustomize makes of a resource of this tree with components.
func build(t *testing.T, namespace, resource string, components, transformers []string) string {
	t.Helper()
	disk := filesys.MakeFsInMemory()
	err := filepath.WalkDir(manifests, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		below, err := filepath.Rel(manifests, file)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return disk.WriteFile("/manifests/"+below, content)
	})
	if err != nil {
		t.Fatal(err)
	}
	beside := func(prefix string, list []string) []string {
		var out []string
		for _, l := range list {
			out = append(out, "../manifests/"+prefix+l)
		}
		return out
	}
	kustomization, err := yaml.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "namespace": namespace,
		"resources": beside("", []string{resource}), "components": beside("components/", components), "transformers": beside("", transformers),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.WriteFile("/mine/kustomization.yaml", kustomization); err != nil {
		t.Fatal(err)
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, "/mine")
	if err != nil {
		t.Fatal(err)
	}
	text, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// objects are decoded documents by "Kind name", in normal form.
func objects(t *testing.T, documents []string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, doc := range documents {
		var object map[string]any
		if err := yaml.UnmarshalStrict([]byte(doc), &object); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		if len(object) == 0 {
			continue
		}
		normal(object)
		key := fmt.Sprint(object["kind"], " ", object["metadata"].(map[string]any)["name"])
		if all[key] != nil {
			t.Errorf("two objects %s", key)
		}
		all[key] = object
	}
	return all
}

// helmLabels and helmAnnotations are what only Helm adds.
var (
	helmLabels      = []string{"app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart"}
	helmAnnotations = []string{"helm.sh/hook", "helm.sh/hook-weight", "helm.sh/hook-delete-policy"}
)

// normal removes what only Helm adds, and the order of lists in which it means nothing.
func normal(object map[string]any) {
	metadata := object["metadata"].(map[string]any)
	for field, keys := range map[string][]string{"labels": helmLabels, "annotations": helmAnnotations} {
		pairs, _ := metadata[field].(map[string]any)
		for _, key := range keys {
			delete(pairs, key)
		}
		if len(pairs) == 0 {
			delete(metadata, field)
		}
	}
	sortNamed(object)
}

// sortNamed sorts volumes and their mounts by name.
func sortNamed(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if list, ok := inner.([]any); ok && (key == "volumes" || key == "volumeMounts") {
				slices.SortFunc(list, func(a, b any) int {
					return cmp.Compare(fmt.Sprint(a.(map[string]any)["name"]), fmt.Sprint(b.(map[string]any)["name"]))
				})
			}
			sortNamed(inner)
		}
	case []any:
		for _, inner := range v {
			sortNamed(inner)
		}
	}
}

// copies are files of the chart and what they are copies of: Helm reads no file outside of a chart, and kustomize none
// outside of a component.
var copies = map[string]string{
	"rules.yaml":     "prometheus/rules.yaml",
	"dashboard.json": "prometheus/dashboard.json",
	"policies.yaml":  "admission-policy/policies.yaml",
}

func TestMain(m *testing.M) {
	flag.Parse()
	if *update {
		for copied, from := range copies {
			content, err := os.ReadFile(filepath.Join(manifests, "components", from))
			if err == nil {
				err = os.WriteFile(filepath.Join(chartDir, "files", copied), content, 0o644)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
	os.Exit(m.Run())
}

func TestTheChartHasTheSameFiles(t *testing.T) {
	for copied, from := range copies {
		want, err := os.ReadFile(filepath.Join(manifests, "components", from))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(chartDir, "files", copied)
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not a copy of %s: run with -update", file, from)
		}
	}
}
