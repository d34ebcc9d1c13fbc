package image

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/docker/cli/cli/config"
	"github.com/docker/cli/cli/config/types"
	"github.com/google/go-containerregistry/pkg/authn"
)

// Keychain finds credentials where Podman and Docker keep them, in this order: the file that REGISTRY_AUTH_FILE names,
// containers/auth.json in XDG_RUNTIME_DIR and in the user's configuration, and Docker's config.json with its helpers.
// Of the entries of a Podman file the one for the longest part of the repository's name counts.
func Keychain() authn.Keychain {
	return authn.NewMultiKeychain(podman{}, authn.DefaultKeychain)
}

type podman struct{}

// Resolve is authn.Anonymous when there are no credentials.
func (podman) Resolve(target authn.Resource) (authn.Authenticator, error) {
	var files []string
	if file := os.Getenv("REGISTRY_AUTH_FILE"); file != "" {
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("the file with credentials that REGISTRY_AUTH_FILE names: %w", err)
		}
		files = append(files, file)
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		files = append(files, filepath.Join(dir, "containers", "auth.json"))
	}
	if dir, err := os.UserConfigDir(); err == nil {
		files = append(files, filepath.Join(dir, "containers", "auth.json"))
	}
	for _, file := range files {
		auth, err := fromFile(file, target)
		if err != nil {
			return nil, fmt.Errorf("the file with credentials %s: %w", file, err)
		}
		if auth != authn.Anonymous {
			return auth, nil
		}
	}
	return authn.Anonymous, nil
}

func fromFile(file string, target authn.Resource) (authn.Authenticator, error) {
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return authn.Anonymous, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := config.LoadFromReader(f)
	if err != nil {
		return nil, err
	}
	for key := target.String(); key != ""; key = parent(key) {
		found, err := c.GetAuthConfig(key)
		if err != nil {
			return nil, err
		}
		found.ServerAddress = ""
		if found != (types.AuthConfig{}) {
			return authn.FromConfig(authn.AuthConfig{
				Username:      found.Username,
				Password:      found.Password,
				Auth:          found.Auth,
				IdentityToken: found.IdentityToken,
				RegistryToken: found.RegistryToken,
			}), nil
		}
	}
	return authn.Anonymous, nil
}

// parent is a name without its last part, "" when it has one only.
func parent(name string) string {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)]
}
