package node

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/olmgate/olmgate/e2e/sandbox"
	"github.com/olmgate/olmgate/e2e/tools"
)

// Variables that carry what Prepare found into the sandbox.
const (
	programsEnv = "OLMGATE_E2E_NODE_PROGRAMS"
	packagesEnv = "OLMGATE_E2E_NODE_PACKAGES"
)

// Prepare finds the programs and packages of a node, outside of the sandbox. Where
// the tests are required it builds and fetches what is missing; elsewhere that is
// an error that wraps tools.ErrAbsent.
func Prepare(ctx context.Context) error {
	find := func() (string, error) { return tools.Find(tools.NodePrograms...) }
	packages := func() (string, error) { return tools.FindPackages(ctx) }
	if sandbox.Required() {
		find = func() (string, error) { return tools.Ensure(ctx, os.Stderr, tools.NodePrograms...) }
		packages = func() (string, error) { return tools.EnsurePackages(ctx, os.Stderr) }
	}
	for name, find := range map[string]func() (string, error){programsEnv: find, packagesEnv: packages} {
		dir, err := find()
		if err != nil {
			return err
		}
		if err := os.Setenv(name, dir); err != nil {
			return fmt.Errorf("passing %s on: %w", name, err)
		}
	}
	return nil
}

// prepared returns what Prepare found.
func prepared() (programs, packages string, err error) {
	programs, packages = os.Getenv(programsEnv), os.Getenv(packagesEnv)
	if programs == "" || packages == "" {
		return "", "", errors.New("the programs of a node are not known: call node.Prepare outside the sandbox")
	}
	return programs, packages, nil
}
