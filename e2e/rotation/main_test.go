package rotation

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/load"
	"github.com/olmgate/olmgate/e2e/suite"
)

// total is what happened in all tests.
var total load.Result

// TestMain closes with the sum of all tests.
func TestMain(m *testing.M) {
	code := suite.Run(m, suite.Options{OnlyWith: "OLMGATE_E2E_ROTATION", Prepare: []func(context.Context) error{func(ctx context.Context) error {
		_, err := gate.Build(ctx)
		return err
	}}})
	if total.Requests > 0 { // the process inside of the sandbox
		fmt.Println(total)
	}
	os.Exit(code)
}
