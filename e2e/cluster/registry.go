package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func (c *Cluster) startRegistry(ctx context.Context) error {
	_, err := c.StartProcess(ctx, ProcessSpec{
		Name: "registry",
		Path: c.tool("regtool"),
		Args: []string{
			"serve",
			"-addr=" + RegistryAddress,
			"-dir=" + filepath.Join(c.Dir, "registry"),
			"-cert=" + c.pki("registry.crt"),
			"-key=" + c.pki("registry.key"),
		},
		Ready: addressReady(RegistryAddress),
	})
	return err
}

// PushCatalog puts file-based catalog content (YAML, JSON or JSON lines) into
// the registry under a name, replacing what was there, and returns the reference
// for a ClusterCatalog.
func (c *Cluster) PushCatalog(ctx context.Context, name string, content []byte) (ref string, err error) {
	file, err := os.CreateTemp(filepath.Join(c.Dir, "tmp"), "catalog-")
	if err != nil {
		return "", fmt.Errorf("keeping catalog %s to push it: %w", name, err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(content)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return "", fmt.Errorf("keeping catalog %s to push it: %w", name, err)
	}
	return c.PushCatalogFile(ctx, name, file.Name())
}

// PushCatalogFile is PushCatalog for a file, which may be compressed with gzip
// or zstd.
func (c *Cluster) PushCatalogFile(ctx context.Context, name, file string) (ref string, err error) {
	ref = RegistryAddress + "/" + name + ":latest"
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.tool("regtool"), "push",
		"-ref="+ref, "-file="+file, "-path=configs/"+name+"/catalog.yaml",
		"-ca="+filepath.Join(c.pki("pull"), "registry-ca.crt"))
	cmd.Env = c.environment()
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("pushing catalog %s: %w: %s", name, err, strings.TrimSpace(stderr.String()))
	}
	return ref, nil
}
