package status

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/suite"
)

// summary is the line that the suite closes with, once TestACatalogGetsNewContent has run.
var summary string

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // the installer's
	code := suite.Run(m, suite.Options{OnlyWith: "OLMGATE_E2E_STATUS", Prepare: []func(context.Context) error{func(ctx context.Context) error {
		_, err := gate.Build(ctx)
		return err
	}}})
	if summary != "" { // the process inside of the sandbox
		fmt.Println(summary)
	}
	os.Exit(code)
}
