package check

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "copy the CRDs anew")

// TestTheCRDsAreThoseOfTheModule compares the embedded copies with the module that the API types come from.
func TestTheCRDsAreThoseOfTheModule(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/operator-framework/operator-controller").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Skipf("the module is not at hand: %v", err)
	}
	for kind, component := range map[string]string{kindExtension: "operator-controller", kindCatalog: "catalogd"} {
		want, err := os.ReadFile(filepath.Join(dir, "helm", "olmv1", "base", component, "crd", "standard", filepath.Base(crdFile[kind])))
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(crdFile[kind], want, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := crdFiles.ReadFile(crdFile[kind])
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the module's: run go test ./check -run CRDs -update (%v)", crdFile[kind], err)
		}
	}
}

func TestTheCRDsCompile(t *testing.T) {
	for kind := range crdFile {
		if _, err := compile(kind); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
