// Package schema compares what olmgate check says about objects with what a real kube-apiserver does with them.
package schema

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/olmgate/olmgate/check"
	"github.com/olmgate/olmgate/check/report"
	"github.com/olmgate/olmgate/config"
	"github.com/olmgate/olmgate/e2e/suite"
)

func TestMain(m *testing.M) { os.Exit(suite.Main(m)) }

// TestTheAPIServerAgrees sends each object of the tests of the schema to an API server with OLM's CRDs. What a check
// finds wrong is refused, and nothing else is.
func TestTheAPIServerAgrees(t *testing.T) {
	archive, err := txtar.ParseFile("../../cmd/olmgate/testdata/script/check_schema.txtar")
	if err != nil {
		t.Fatal(err)
	}
	c := suite.Cluster(t)
	for _, file := range archive.Files {
		if !strings.HasSuffix(file.Name, ".yaml") || strings.HasPrefix(file.Name, "golden/") || file.Name == "lax.yaml" {
			continue
		}
		for i, object := range bytes.Split(file.Data, []byte("\n---\n")) {
			if !bytes.Contains(object, []byte("olm.operatorframework.io/v1\n")) {
				continue // the API server does not know it
			}
			rules := refusedFor(t, object)
			_, stderr, err := c.Kubectl(t.Context(), object, "create", "--dry-run=server", "--validate=strict", "-f", "-")
			if refused := err != nil; refused != (len(rules) > 0) {
				t.Errorf("%s, object %d: the check finds %v; the API server: %s", file.Name, i, rules, stderr)
			}
		}
	}
}

// refusedFor are the rules by which a check says that the API server refuses an object.
func refusedFor(t *testing.T, object []byte) []string {
	file := filepath.Join(t.TempDir(), "object.yaml")
	if err := os.WriteFile(file, object, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := check.Run(context.Background(), check.Options{Config: config.DefaultCheck(), SchemaOnly: true, Inputs: check.Inputs{Paths: []string{file}}})
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, f := range r.Report.Findings {
		if f.Level == report.Error || f.Rule == report.ExperimentalField || f.Rule == report.DuplicateKey {
			rules = append(rules, f.Rule)
		}
	}
	return rules
}
