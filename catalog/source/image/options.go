package image

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/olmgate/olmgate/catalog"
)

// Options say where images come from and what is taken of them. The zero value is of use.
type Options struct {
	// CacheDir keeps what was pulled. Default olmgate/images in the user's cache directory.
	CacheDir string
	// Offline forbids every use of the network: an image must be in the cache.
	Offline bool
	// Mirrors are asked before the registry that an image names, in their order.
	Mirrors []Mirror
	// Platform to choose where an image has several, as OS/ARCH or OS/ARCH/VARIANT. Default linux/amd64, or the only
	// one that there is: the content is the same on all, and the choice must not depend on the machine.
	Platform string
	// Keychain has the credentials for registries. Default: the files and helpers of Podman and Docker.
	Keychain authn.Keychain
	// Limits of an image.
	Limits Limits
	// Content are the limits of the File-Based Catalog in it.
	Content catalog.Limits
	// Connect is the longest time for a connection, default 10 s. Stall is how long no byte may arrive, default 30 s.
	// Total is how long everything may take for one image, default 15 min.
	Connect, Stall, Total time.Duration

	// What tests put in: CAs to trust, the dialer, the wait between tries.
	roots *x509.CertPool
	dial  func(ctx context.Context, network, address string) (net.Conn, error)
	retry time.Duration
}

// Limits bound what an image may have. A zero field means the default.
type Limits struct {
	// ManifestBytes is the size of a manifest, an index or a configuration. Default 4 MiB.
	ManifestBytes int64
	// Manifests is the number of entries in an index. Default 1000.
	Manifests int
	// Nesting is how many indexes may lie in each other. Default 3.
	Nesting int
	// Layers is their number. Default 256; no runtime mounts more.
	Layers int
	// LayerBytes is the size of a layer, ImageBytes that of all, as they are pulled. Default 2 GiB and 4 GiB.
	LayerBytes, ImageBytes int64
	// UnpackedBytes is the size of all layers after decompression. Default 8 GiB.
	UnpackedBytes int64
	// Entries is the number of files and directories in all layers. Default 2,000,000.
	Entries int
}

func (l Limits) withDefaults() Limits {
	def(&l.ManifestBytes, 4<<20)
	def(&l.Manifests, 1000)
	def(&l.Nesting, 3)
	def(&l.Layers, 256)
	def(&l.LayerBytes, 2<<30)
	def(&l.ImageBytes, 4<<30)
	def(&l.UnpackedBytes, 8<<30)
	def(&l.Entries, 2_000_000)
	return l
}

func def[T int | int64 | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

func (o Options) withDefaults() (Options, error) {
	o.Limits = o.Limits.withDefaults()
	def(&o.Connect, 10*time.Second)
	def(&o.Stall, 30*time.Second)
	def(&o.Total, 15*time.Minute)
	def(&o.retry, time.Second)
	if o.Keychain == nil {
		o.Keychain = Keychain()
	}
	if o.dial == nil {
		o.dial = (&net.Dialer{Timeout: o.Connect}).DialContext
	}
	if o.CacheDir == "" {
		// Without one there is an error when an image is read, and not before.
		if dir, err := os.UserCacheDir(); err == nil {
			o.CacheDir = filepath.Join(dir, "olmgate", "images")
		}
	}
	if o.Platform != "" {
		p, err := v1.ParsePlatform(o.Platform)
		if err != nil || p.OS == "" || p.Architecture == "" {
			return o, fmt.Errorf("platform %q: write it as OS/ARCH, for example linux/arm64", o.Platform)
		}
	}
	return o, nil
}
