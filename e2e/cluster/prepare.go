package cluster

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/olmgate/olmgate/e2e/tools"
)

// Variables that carry what Prepare found into the sandbox.
const (
	toolsEnv = "OLMGATE_E2E_TOOLS"
	olmEnv   = "OLMGATE_E2E_OLM"
	certsEnv = "OLMGATE_E2E_CERT_MANAGER"
)

// Prepare finds what Start needs and may need the network for, and leaves it in
// the environment: call it outside the sandbox. When build is false, missing
// programs are an error that wraps tools.ErrAbsent.
func Prepare(ctx context.Context, progress io.Writer, build bool) error {
	find := func() (string, error) { return tools.Find() }
	if build {
		find = func() (string, error) { return tools.Ensure(ctx, progress) }
	}
	toolsDir, err := find()
	if err != nil {
		return err
	}
	olmDir, err := OLMDir(ctx)
	if err != nil {
		return err
	}
	certManagerDir, err := CertManagerDir(ctx)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{toolsEnv: toolsDir, olmEnv: olmDir, certsEnv: certManagerDir} {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("passing %s on: %w", name, err)
		}
	}
	return nil
}
