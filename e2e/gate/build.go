package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/olmgate/olmgate/e2e/tools"
)

// binaryEnv carries what Build made into the sandbox. Set before, it names a binary to use instead.
const binaryEnv = "OLMGATE_E2E_BINARY"

// Build compiles the olmgate of the source tree that holds the working directory, for every Start that names no other:
// call it outside the sandbox, which is where Go's build cache is. It returns the binary's path.
func Build(ctx context.Context) (string, error) {
	if binary := os.Getenv(binaryEnv); binary != "" {
		return binary, nil
	}
	root, err := tools.ModuleRoot()
	if err != nil {
		return "", err
	}
	cache, err := tools.CacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(root))
	binary := filepath.Join(cache, "olmgate-"+hex.EncodeToString(sum[:4]), "olmgate")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/olmgate")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building olmgate: %w", err)
	}
	return binary, os.Setenv(binaryEnv, binary)
}

// Manifests is the kustomization that installs olmgate, of the same source tree.
func Manifests() (string, error) {
	root, err := tools.ModuleRoot()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "manifests", "overlays", "enforce"), nil
}
