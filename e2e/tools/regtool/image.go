package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"path"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// configsLabel tells catalogd which folder of the image holds the catalog.
const configsLabel = "operators.operatorframework.io.index.configs.v1"

// layerTime is fixed, so that equal content has an equal digest.
var layerTime = time.Unix(1, 0)

// catalogImage makes an image of one layer that holds one catalog file.
func catalogImage(content []byte, file, label string) (v1.Image, error) {
	archive, err := tarOf(content, file)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive)), nil }
	layer, err := tarball.LayerFromOpener(open,
		tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", "amd64"
	if label != "" {
		config.Config.Labels = map[string]string{configsLabel: label}
	}
	return mutate.ConfigFile(image, config)
}

func tarOf(content []byte, file string) ([]byte, error) {
	var buffer bytes.Buffer
	writer := tar.NewWriter(&buffer)
	headers := []*tar.Header{
		{Typeflag: tar.TypeDir, Name: path.Dir(file) + "/", Mode: 0o755, ModTime: layerTime},
		{Typeflag: tar.TypeReg, Name: file, Mode: 0o644, ModTime: layerTime, Size: int64(len(content))},
	}
	for _, header := range headers {
		if err := writer.WriteHeader(header); err != nil {
			return nil, err
		}
	}
	if _, err := writer.Write(content); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}
