package node

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// imageUser is whom the image's program runs as.
const imageUser = "65532:65532"

// writeImage makes what "docker save" would write for an image built with
//
//	FROM scratch
//	COPY program /program
//	USER 65532:65532
//	ENTRYPOINT ["/program"]
func writeImage(archive, reference, program string) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	name := filepath.Base(program)
	layer, err := tarOf(file{name, 0o755, content})
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config":       map[string]any{"Entrypoint": []string{"/" + name}, "User": imageUser},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest(layer)}},
	})
	if err != nil {
		return err
	}
	configName, layerName := digest(config)+".json", digest(layer)+".tar"
	manifest, err := json.Marshal([]any{map[string]any{
		"Config": configName, "RepoTags": []string{reference}, "Layers": []string{layerName},
	}})
	if err != nil {
		return err
	}
	image, err := tarOf(
		file{configName, 0o644, config}, file{layerName, 0o644, layer}, file{"manifest.json", 0o644, manifest})
	if err != nil {
		return err
	}
	return os.WriteFile(archive, image, 0o644)
}

type file struct {
	name    string
	mode    int64
	content []byte
}

// tarOf packs files with a fixed time, so that equal content has an equal digest.
func tarOf(files ...file) ([]byte, error) {
	var buffer bytes.Buffer
	writer := tar.NewWriter(&buffer)
	for _, f := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: time.Unix(1, 0),
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.name, err)
		}
		if _, err := writer.Write(f.content); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.name, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
