package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// readCatalog reads a file and unpacks it by what its first bytes say.
func readCatalog(file string) ([]byte, error) {
	if file == "" {
		return nil, errors.New("name the catalog with -file")
	}
	var content []byte
	var err error
	if file == "-" {
		content, err = io.ReadAll(os.Stdin)
	} else {
		content, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(content, gzipMagic):
		reader, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(reader)
	case bytes.HasPrefix(content, zstdMagic):
		reader, err := zstd.NewReader(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		defer reader.Close()
		return io.ReadAll(reader)
	}
	return content, nil
}
