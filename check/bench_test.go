package check

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/olmgate/olmgate/config"
)

// manifests writes many extensions below a directory.
func manifests(t testing.TB, n int) string {
	dir := t.TempDir()
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprintf("team-%d", i%50))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata:
  name: ext-%d
spec:
  namespace: ns-%d
  source:
    sourceType: Catalog
    catalog:
      packageName: kiln-operator
      version: 1.x
      channels: [stable]
`, i, i)
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("e%d.yaml", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func BenchmarkFiveThousandManifests(b *testing.B) {
	dir := manifests(b, 5000)
	b.ReportAllocs()
	for b.Loop() {
		r, err := Run(b.Context(), Options{Config: config.DefaultCheck(), Inputs: Inputs{Paths: []string{dir}}})
		if err != nil || r.Report.Summary.Extensions != 5000 {
			b.Fatal(err)
		}
	}
}
