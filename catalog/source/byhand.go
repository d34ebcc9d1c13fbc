package source

import (
	"fmt"
	"os"
	"strings"
)

// ByHand is content that was named on the command line.
type ByHand struct {
	// Name of the ClusterCatalog.
	Name string
	// Path of the file or directory with its content, "" when that is an image.
	Path string
	// Image is the reference of the image with its content, "" when that is in files.
	Image string
}

// ImageScheme is what comes before the reference of an image where a path could stand too.
const ImageScheme = "oci://"

// ParseByHand reads NAME=PATH and NAME=oci://REF.
func ParseByHand(s string) (ByHand, error) {
	name, path, found := strings.Cut(s, "=")
	if !found || name == "" || path == "" {
		return ByHand{}, fmt.Errorf("%q: write it as NAME=PATH, for example operatorhubio=./catalog.jsonl", s)
	}
	if why := badName(name); why != "" {
		return ByHand{}, fmt.Errorf("%q: %q is no name of a ClusterCatalog: %s", s, name, why)
	}
	if ref, isImage := strings.CutPrefix(path, ImageScheme); isImage {
		return ByHand{Name: name, Image: ref}, nil
	}
	return ByHand{Name: name, Path: path}, nil
}

// from is where the content is, as it was given.
func (b ByHand) from() string {
	if b.Image != "" {
		return ImageScheme + b.Image
	}
	return b.Path
}

// check makes sure that there is content to read at all.
func (b ByHand) check() error {
	if b.Image != "" {
		return nil
	}
	info, err := os.Stat(b.Path)
	if err != nil {
		return fmt.Errorf("content of catalog %q: %w", b.Name, err)
	}
	if info.IsDir() {
		return nil
	}
	if !info.Mode().IsRegular() {
		// It is read twice, first to see what it is; opening a pipe that nobody writes to would wait for ever.
		return fmt.Errorf("content of catalog %q: %s is not a regular file: write its content to a file first", b.Name, b.Path)
	}
	if found := sniff(b.Path); found.class == classManifest {
		return fmt.Errorf("content of catalog %q: %s holds manifests, not a File-Based Catalog: give its directory by --catalogs", b.Name, b.Path)
	}
	return nil
}
