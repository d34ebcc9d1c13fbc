package e2e_test

import (
	"strings"
	"testing"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/suite"
)

// The last test of the package, as its cluster takes the place of the shared one.
func TestNothingIsLeftRunning(t *testing.T) {
	c := suite.NewCluster(t, cluster.Options{})
	running, err := suite.Processes()
	if err != nil {
		t.Fatal(err)
	}
	if want := 4; len(running) != want {
		t.Errorf("%d processes of a started cluster, want %d: %s", len(running), want, strings.Join(running, "\n"))
	}
	if err := c.Remove(); err != nil {
		t.Fatal(err)
	}
	if running, err = suite.Processes(); err != nil || len(running) != 0 {
		t.Errorf("left running: %s (error %v)", strings.Join(running, "\n"), err)
	}
}
