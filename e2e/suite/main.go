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
// os.Exit. What the tests need to be built or fetched is prepared before, outside
// of the sandbox.
func Main(m *testing.M, prepare ...func(context.Context) error) int {
	flag.Parse()
	if testing.Short() {
		skip = "not with -short"
		return m.Run()
	}
	config := sandbox.Config{
		Hosts: cluster.Hosts(),
		Prepare: func() error {
			ctx := context.Background()
			if err := cluster.Prepare(ctx, os.Stderr, sandbox.Required()); err != nil {
				return err
			}
			for _, step := range prepare {
				if err := step(ctx); err != nil {
					return err
				}
			}
			return nil
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
