package e2e_test

import (
	"context"
	"testing"

	"github.com/olmgate/olmgate/e2e"
	"github.com/olmgate/olmgate/e2e/cluster"
)

// addSample serves one of the sample catalogs under its own name, until the test ends.
func addSample(ctx context.Context, t *testing.T, c *cluster.Cluster, name string, priority int32) {
	t.Helper()
	content, err := e2e.SampleCatalog(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, _, err := c.Kubectl(context.Background(), nil, "delete", "clustercatalog", name, "--ignore-not-found", "--timeout=20s"); err != nil {
			t.Errorf("cleaning up: %v", err)
		}
	})
	if err := c.AddCatalog(ctx, name, content, priority, nil); err != nil {
		t.Fatal(err)
	}
}

// kubectl runs a command that must succeed and returns what it prints.
func kubectl(ctx context.Context, t *testing.T, c *cluster.Cluster, args ...string) string {
	t.Helper()
	out, _, err := c.Kubectl(ctx, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
