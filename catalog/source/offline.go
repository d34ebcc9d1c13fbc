package source

import (
	"errors"
	"fmt"
	"os"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
)

// ErrNoContent means that a ClusterCatalog is known from its manifest only.
var ErrNoContent = errors.New("no content is at hand: put it beside the manifest as NAME.jsonl, or give it by --catalog NAME=PATH")

// ErrNoBlobs means that a file or directory is there and holds no FBC object. It is not taken for a catalog that lacks
// every package.
var ErrNoBlobs = errors.New("it holds no FBC object")

// Offline is a catalog described by files, without a cluster.
type Offline struct {
	// Catalog is the manifest, or one with nothing but a name when there is none.
	Catalog *ocv1.ClusterCatalog
	// Manifest is the file that the manifest is in, "" when there is none.
	Manifest string
	// Path is the file or directory with the content, "" when it is not at hand.
	Path string
}

// Load reads the content. Errors name the file and, by catalog.Error, the place in it; ErrNoContent when there is no
// content, ErrNoBlobs when there is nothing in it.
func (o Offline) Load(limits catalog.Limits) (*catalog.Index, error) {
	index, err := load(o.Path, limits)
	if err == nil && index.Stats().Blobs == 0 {
		err = fmt.Errorf("%s: %w", o.Path, ErrNoBlobs)
	}
	if err != nil {
		return nil, fmt.Errorf("reading content of catalog %q: %w", o.Catalog.Name, err)
	}
	return index, nil
}

func load(path string, limits catalog.Limits) (*catalog.Index, error) {
	if path == "" {
		return nil, ErrNoContent
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		index, err := catalog.ReadFS(os.DirFS(path), limits)
		if err != nil {
			return nil, fmt.Errorf("directory %s: %w", path, err)
		}
		return index, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	index, err := catalog.Read(f, limits)
	var at *catalog.Error
	switch {
	case err == nil:
		return index, nil
	case errors.As(err, &at) && at.File == "":
		at.File = path
		return nil, err
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}
