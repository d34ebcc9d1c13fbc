package suite

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/olmgate/olmgate/e2e/cluster"
)

const logLines = 20

// shared is the cluster that Cluster hands out, once it is started.
var shared *cluster.Cluster

// Cluster returns the cluster that the tests of a package share, starting it
// for the first of them. Tests must not run in parallel.
func Cluster(t *testing.T) *cluster.Cluster {
	t.Helper()
	need(t)
	if shared == nil {
		shared = start(t, cluster.Options{})
	}
	dumpOnFailure(t, shared)
	return shared
}

// NewCluster returns a cluster of the test's own, which is removed with the
// test. Clusters use fixed addresses, so it takes the place of the shared one.
func NewCluster(t *testing.T, options cluster.Options) *cluster.Cluster {
	t.Helper()
	need(t)
	stopShared()
	c := start(t, options)
	t.Cleanup(func() {
		if err := c.Remove(); err != nil {
			t.Error(err)
		}
	})
	dumpOnFailure(t, c)
	return c
}

func need(t *testing.T) {
	t.Helper()
	if skip != "" {
		t.Skip(skip)
	}
}

func start(t *testing.T, options cluster.Options) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Start(t.Context(), options)
	if err != nil {
		t.Fatalf("starting a cluster: %v", err)
	}
	return c
}

func dumpOnFailure(t *testing.T, c *cluster.Cluster) {
	t.Cleanup(func() {
		if t.Failed() {
			var logs strings.Builder
			c.DumpLogs(&logs, logLines)
			t.Log(logs.String())
		}
	})
}

func stopShared() {
	if shared != nil {
		if err := shared.Remove(); err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
		}
		shared = nil
	}
}
