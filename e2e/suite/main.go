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

// Options describe what a package's tests need.
type Options struct {
	// Prepare is called before, outside of the sandbox: what the tests need is
	// built or fetched there.
	Prepare []func(context.Context) error
	// Containers asks for a sandbox in which a kubelet can run.
	Containers bool
	// OnlyWith names an environment variable; the tests are skipped unless it is 1.
	OnlyWith string
}

// Main is Run for tests that need nothing but a cluster and what prepare brings.
func Main(m *testing.M, prepare ...func(context.Context) error) int {
	return Run(m, Options{Prepare: prepare})
}

// Run runs a package's tests in a sandbox; TestMain passes its result to os.Exit.
func Run(m *testing.M, options Options) int {
	flag.Parse()
	switch {
	case testing.Short():
		skip = "not with -short"
	case options.OnlyWith != "" && os.Getenv(options.OnlyWith) != "1":
		skip = "only with " + options.OnlyWith + "=1"
	}
	if skip != "" {
		return m.Run()
	}
	config := sandbox.Config{
		Hosts:      cluster.Hosts(),
		Containers: options.Containers,
		Prepare: func() error {
			ctx := context.Background()
			if err := cluster.Prepare(ctx, os.Stderr, sandbox.Required()); err != nil {
				return err
			}
			for _, step := range options.Prepare {
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
