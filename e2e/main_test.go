package e2e_test

import (
	"context"
	"os"
	"testing"

	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/suite"
)

func TestMain(m *testing.M) {
	os.Exit(suite.Main(m, func(ctx context.Context) error {
		_, err := gate.Build(ctx)
		return err
	}))
}
