package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What hides an object from a search, or stands behind another value, is looked at all the same.
func TestNothingHides(t *testing.T) {
	const spec = "metadata: {name: kiln}\nspec: {namespace: x, source: {sourceType: Catalog, catalog: {packageName: kiln}}}\n"
	for name, text := range map[string]string{
		"escapes in YAML":        `kind: "Cluster\u0045xtension"` + "\napiVersion: olm.operatorframework.io/v1\n" + spec,
		"short escapes in YAML":  `kind: "Cluster\x45xtension"` + "\napiVersion: olm.operatorframework.io/v1\n" + spec,
		"escapes in JSON":        `{"\u006bind":"Cluster\u0045xtension","apiVersion":"olm.operatorframework.io/v1","metadata":{"name":"kiln"}}`,
		"binary":                 "kind: !!binary Q2x1c3RlckV4dGVuc2lvbg==\napiVersion: olm.operatorframework.io/v1\n" + spec,
		"a merge key":            "x: &k {kind: ClusterExtension}\n<<: *k\napiVersion: olm.operatorframework.io/v1\n" + spec,
		"a key that is an alias": "x: &k kind\n*k : ClusterExtension\napiVersion: olm.operatorframework.io/v1\n" + spec,
		"a List in a List":       "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: olm.operatorframework.io/v1, kind: ClusterExtension, metadata: {name: kiln}}\n",
	} {
		p := readText("x.yaml", []byte(text), 0)
		if len(p.objects) != 1 || p.problem != nil || p.objects[0].kind != kindExtension {
			t.Errorf("%s: %d objects, problem %v", name, len(p.objects), p.problem)
		}
	}
	for name, text := range map[string]string{
		"a template of Helm":        "{{ if .Values.x }}\napiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\n" + spec,
		"JSON with a comma at last": "{\"kind\":\"ConfigMap\"}\n{\"kind\":\"ClusterExtension\",\"apiVersion\":\"olm.operatorframework.io/v1\",}x\n",
	} {
		if p := readText("x.yaml", []byte(text), 0); p.problem == nil {
			t.Errorf("%s: no problem, %d objects", name, len(p.objects))
		}
	}
	// What has nothing to do with OLM passes by, however odd.
	if p := readText("x.yaml", []byte(`a: "\u00e4"`+"\n{{ x }}\n"), 0); p.problem != nil || len(p.objects) > 0 {
		t.Errorf("got %v", p.problem)
	}
}

// Aliases that make much of little are refused for all objects of a document together.
func TestAliasesOfSeveralObjectsCountTogether(t *testing.T) {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: List\nx:\n- &a [1,1,1,1,1,1,1,1,1,1]\n")
	for i, c := range "bcde" {
		text.WriteString("- &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string("abcd"[i])+",", 10), ",") + "]\n")
	}
	text.WriteString("items:\n")
	for range 12 {
		text.WriteString("- {apiVersion: olm.operatorframework.io/v1, kind: ClusterExtension, metadata: {name: x}, status: {z: *e}}\n")
	}
	p := readText("x.yaml", []byte(text.String()), 0)
	if p.problem == nil || !strings.Contains(p.problem.Error(), "too many values") {
		t.Errorf("got %d objects, problem %v", len(p.objects), p.problem)
	}
}

// Nothing is fetched by a kustomization however deep, nor by what configures a transformer in a directory of its own.
func TestKustomizationsReachNothingByDetours(t *testing.T) {
	write := func(dir, file, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	deep := t.TempDir()
	at := deep
	for range maxDepth + 8 {
		write(at, "kustomization.yaml", "resources: [d]\n")
		at = filepath.Join(at, "d")
	}
	write(at, "kustomization.yaml", "resources: ['http://127.0.0.1:9/deep']\n")
	if err := refuseRemote(disk{}, deep, map[string]bool{}, 0); err == nil {
		t.Error("a deep kustomization may name an address")
	}
	dir := t.TempDir()
	write(dir, "kustomization.yaml", "transformers: [t]\n")
	write(filepath.Join(dir, "t"), "kustomization.yaml", "resources: [t.yaml]\n")
	write(filepath.Join(dir, "t"), "t.yaml", "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: http://127.0.0.1:9/transformer\n")
	if err := refuseRemote(disk{}, dir, map[string]bool{}, 0); err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("got %v", err)
	}
}
