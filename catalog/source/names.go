package source

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

var (
	contentEndings  = []string{".jsonl", ".json", ".yaml", ".yml"}
	compressEndings = []string{".zst", ".gz"}
)

// stem is the catalog's name in a file name, false when the file's name is not one of content or manifests.
func stem(file string) (string, bool) {
	for _, z := range compressEndings {
		file = strings.TrimSuffix(file, z)
	}
	for _, e := range contentEndings {
		if name, found := strings.CutSuffix(file, e); found && name != "" {
			return name, true
		}
	}
	return "", false
}

// badName says why a ClusterCatalog cannot be named so, "" when it can.
func badName(name string) string {
	return strings.Join(validation.IsDNS1123Subdomain(name), ", ")
}
