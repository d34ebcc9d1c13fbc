package node_test

import (
	"context"
	"os"
	"testing"

	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/node"
	"github.com/olmgate/olmgate/e2e/suite"
)

func TestMain(m *testing.M) {
	os.Exit(suite.Run(m, suite.Options{
		Prepare:    []func(context.Context) error{build, node.Prepare},
		Containers: true,
		OnlyWith:   node.Env,
	}))
}

// build makes the binary that goes into the image.
func build(ctx context.Context) error {
	_, err := gate.Build(ctx)
	return err
}
