package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/olmgate/olmgate/e2e/sandbox"
)

// helperEnv makes the test binary act as a sandboxed program instead.
const helperEnv = "OLMGATE_SANDBOX_TEST_HELPER"

const exampleName = "service.example.svc"

func TestMain(m *testing.M) {
	name := os.Getenv(helperEnv)
	helper := helpers[name]
	if helper == nil {
		os.Exit(m.Run())
	}
	config := sandbox.Config{
		Hosts:      map[string]string{exampleName: "10.200.0.7"},
		Forward:    []string{"api"},
		Containers: name == "contain",
	}
	code, err := sandbox.Run(config, helper)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, sandbox.ErrUnavailable) {
			code = unavailableCode
		}
	}
	os.Exit(code)
}
