package image

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// isIndex tells an index from a manifest by what is in it, since the media type is the registry's word only.
func isIndex(text []byte) bool {
	var head struct {
		MediaType types.MediaType `json:"mediaType"`
		Manifests json.RawMessage `json:"manifests"`
		Layers    json.RawMessage `json:"layers"`
	}
	return json.Unmarshal(text, &head) == nil && head.Layers == nil && (head.MediaType.IsIndex() || head.Manifests != nil)
}

// choose picks the image of the platform out of an index.
func (p *pull) choose(text []byte) (v1.Hash, error) {
	index, err := v1.ParseIndexManifest(bytes.NewReader(text))
	if err != nil {
		return v1.Hash{}, fmt.Errorf("its index cannot be read: %w", err)
	}
	if n, most := len(index.Manifests), p.opts.Limits.Manifests; n > most {
		return v1.Hash{}, fmt.Errorf("%w: its index has %d entries, more than %d", ErrLimit, n, most)
	}
	images := slices.DeleteFunc(index.Manifests, func(d v1.Descriptor) bool {
		attached := d.Platform != nil && d.Platform.OS == "unknown"
		return attached || !d.MediaType.IsImage() && !d.MediaType.IsIndex()
	})
	want, asked := p.opts.Platform, p.opts.Platform != ""
	if !asked {
		want = "linux/amd64"
	}
	platform, err := v1.ParsePlatform(want)
	if err != nil {
		return v1.Hash{}, err
	}
	i := slices.IndexFunc(images, func(d v1.Descriptor) bool { return d.Platform != nil && d.Platform.Satisfies(*platform) })
	if i < 0 && !asked && len(images) == 1 {
		i = 0
	}
	if i < 0 {
		return v1.Hash{}, fmt.Errorf("it is not there for %s, but for %s: choose one by --platform", want, platforms(images))
	}
	if images[i].Digest.Algorithm != "sha256" {
		return v1.Hash{}, fmt.Errorf("%w: its index has a digest of the kind %.20q", ErrRefused, images[i].Digest.Algorithm)
	}
	return images[i].Digest, nil
}

func platforms(images []v1.Descriptor) string {
	var names []string
	for _, d := range images {
		if d.Platform != nil {
			names = append(names, d.Platform.String())
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return "none"
	}
	const most = 10
	if len(names) > most {
		names = append(names[:most], "...")
	}
	return strings.Join(names, ", ")
}
