// Package suite lets Go tests use a real cluster: the test binary runs itself in
// a sandbox, and tests ask for the cluster they need.
//
// Tests skip where the programs are not built or namespaces are not permitted,
// and with -short. OLMGATE_E2E_REQUIRED=1 (or CI=true) builds what is missing and
// turns the skips into failures.
package suite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/sandbox"
	"github.com/olmgate/olmgate/e2e/tools"
)

// skip says why the tests cannot run; empty: they can.
var skip string

// Main runs a package's tests in a sandbox; TestMain passes its result to
// os.Exit.
func Main(m *testing.M) int {
	flag.Parse()
	if testing.Short() {
		skip = "not with -short"
		return m.Run()
	}
	config := sandbox.Config{
		Hosts: cluster.Hosts(),
		Prepare: func() error {
			return cluster.Prepare(context.Background(), os.Stderr, sandbox.Required())
		},
	}
	code, err := sandbox.Run(config, func() int {
		defer stopShared()
		return m.Run()
	})
	switch {
	case err == nil:
		return code
	case skippable(err) && !sandbox.Required():
		skip = err.Error()
		return m.Run()
	default:
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
}

func skippable(err error) bool {
	return errors.Is(err, sandbox.ErrUnavailable) || errors.Is(err, tools.ErrAbsent)
}
