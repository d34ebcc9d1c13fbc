package e2e

import (
	"embed"
	"fmt"
)

//go:embed testdata/catalogs/*.yaml
var catalogs embed.FS

// SampleCatalog returns the file-based catalog of a name: "community" and
// "operatorhubio", which share the package argocd-operator, "a" and "b", which
// share kiln-operator. All content is invented.
func SampleCatalog(name string) ([]byte, error) {
	content, err := catalogs.ReadFile("testdata/catalogs/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no sample catalog %q: %w", name, err)
	}
	return content, nil
}
