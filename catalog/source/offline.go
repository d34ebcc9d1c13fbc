package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
)

// ErrNoContent means that a ClusterCatalog is known from its manifest only.
var ErrNoContent = errors.New("no content is at hand: put it beside the manifest as NAME.jsonl, or give it by --catalog NAME=PATH")

// ErrNoBlobs means that a directory, or a file given by hand, holds no FBC object. It is not taken for a catalog that
// lacks every package.
var ErrNoBlobs = errors.New("it holds no FBC object")

// Offline is a catalog described by files, without a cluster.
type Offline struct {
	// Catalog is the manifest, or one with nothing but a name when there is none.
	Catalog *ocv1.ClusterCatalog
	// Manifest is the file that the manifest is in, "" when there is none.
	Manifest string
	// Path is the file or directory with the content, "" when it is not at hand.
	Path string
	// Image is the reference of an image with the content that was given by hand, else "".
	Image string
	// ByHand is whether Path or Image was given by hand.
	ByHand bool
	// Content is what a snapshot has of it, nil when Path or Image counts.
	Content *catalog.Content
	// Snapshot is the file that it was first found in, "" when that was no snapshot.
	Snapshot string
}

// From is where the content is, "" when it is not at hand.
func (o Offline) From() string {
	switch {
	case o.Image != "":
		return ImageScheme + o.Image
	case o.Path != "":
		return o.Path
	case o.Content != nil && o.Content.Index != nil:
		return o.Snapshot
	}
	return ""
}

// Load reads the content. Errors name the file and, by catalog.Error, the place in it; ErrNoContent when there is no
// content, ErrNoBlobs when there is nothing in it. A file that was found by its name may hold nothing: then the catalog
// is known to lack every package, which is worth a warning, as Stats().Blobs is 0. What a snapshot has is in Content, and
// neither that nor an image is for Load.
func (o Offline) Load(limits catalog.Limits) (*catalog.Index, error) {
	index, dir, err := load(o.Path, limits)
	if err == nil && index.Stats().Blobs == 0 && (dir || o.ByHand) {
		err = fmt.Errorf("%s: %w", o.Path, ErrNoBlobs)
	}
	if err != nil {
		return nil, fmt.Errorf("reading content of catalog %q: %w", o.Catalog.Name, err)
	}
	return index, nil
}

// LoadPath reads a File-Based Catalog that was given by hand, a file or directory; errors name it as Load's do.
func LoadPath(path string, limits catalog.Limits) (*catalog.Index, error) {
	if found := sniffFile(path); found.class == classManifest {
		return nil, fmt.Errorf("%s holds manifests, not a File-Based Catalog", path)
	}
	index, _, err := load(path, limits)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading a catalog: %w", err)
	case index.Stats().Blobs == 0:
		return nil, fmt.Errorf("%s: %w", path, ErrNoBlobs)
	}
	return index, nil
}

// sniffFile is sniff for what may be no regular file.
func sniffFile(path string) sniffed {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return sniffed{}
	}
	return sniff(path)
}

func load(path string, limits catalog.Limits) (index *catalog.Index, dir bool, err error) {
	if path == "" {
		return nil, false, ErrNoContent
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, err
	}
	if info.IsDir() {
		index, err = catalog.ReadFS(os.DirFS(path), limits)
		var at *catalog.Error
		if errors.As(err, &at) {
			at.File = filepath.Join(path, at.File)
			return nil, true, err
		}
		if err != nil {
			return nil, true, fmt.Errorf("directory %s: %w", path, err)
		}
		return index, true, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	index, err = catalog.Read(f, limits)
	var at *catalog.Error
	switch {
	case err == nil:
		return index, false, nil
	case errors.As(err, &at) && at.File == "":
		at.File = path
		return nil, false, err
	}
	return nil, false, fmt.Errorf("%s: %w", path, err)
}
