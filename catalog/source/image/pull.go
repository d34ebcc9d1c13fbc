package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/olmgate/olmgate/catalog"
)

// Source reads catalogs out of images. Its methods may be called by many goroutines.
type Source struct {
	opts  Options
	cache cache
}

// Content is what is in a catalog image.
type Content struct {
	Index *catalog.Index
	// Resolved is the reference with the digest that it had.
	Resolved string
}

// New checks the options. It asks nobody and makes no directory.
func New(o Options) (*Source, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Source{opts: o, cache: cache{o.CacheDir}}, nil
}

// Load reads the catalog in an image, REGISTRY/REPOSITORY:TAG or REGISTRY/REPOSITORY@DIGEST. What the cache has is not
// pulled again; what a tag leads to is asked each time, unless Offline. Errors are of type *Error.
func (s *Source) Load(ctx context.Context, ref string) (*Content, error) {
	c, err := s.load(ctx, ref)
	if err != nil {
		return nil, &Error{ref, err}
	}
	return c, nil
}

func (s *Source) load(ctx context.Context, text string) (*Content, error) {
	ref, err := parse(text)
	if err != nil {
		return nil, err
	}
	if s.cache.dir == "" {
		return nil, errors.New("there is no directory to keep it in, since neither XDG_CACHE_HOME nor HOME is set: name one by --cache-dir")
	}
	ctx, done := context.WithTimeoutCause(ctx, s.opts.Total, fmt.Errorf("%w: it was not complete after %s", ErrDeadline, s.opts.Total))
	defer done()
	p := &pull{Source: s, places: s.opts.places(ref.Context())}
	if !s.opts.Offline {
		g := newGuard(&s.opts)
		defer g.inner.CloseIdleConnections()
		if p.from, err = p.puller(g); err != nil {
			return nil, err
		}
	}
	digest, err := p.resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	img, err := p.image(ctx, digest, 0)
	if err != nil {
		return nil, err
	}
	index, err := p.read(ctx, img)
	if altered := (*errAltered)(nil); errors.As(err, &altered) {
		s.cache.remove(altered.path)
		if s.opts.Offline {
			return nil, fmt.Errorf("%w and is removed: pull the image again without --offline", err)
		}
		index, err = p.read(ctx, img)
	}
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	return &Content{Index: index, Resolved: repository(text) + "@" + digest.String()}, nil
}

// pull is one Load.
type pull struct {
	*Source
	places []name.Repository
	from   *remote.Puller // nil when offline
}

func (p *pull) puller(t http.RoundTripper) (*remote.Puller, error) {
	return remote.NewPuller(remote.WithTransport(t), remote.WithAuthFromKeychain(p.opts.Keychain), remote.WithUserAgent("olmgate"),
		remote.WithRetryPredicate(again), remote.WithRetryBackoff(remote.Backoff{Duration: p.opts.retry, Factor: 3, Jitter: 0.1, Steps: 3}))
}

// ask tries each place until one has an answer.
func (p *pull) ask(ctx context.Context, try func(name.Repository) error) error {
	var errs []error
	for _, place := range p.places {
		err := try(place)
		if err == nil {
			return nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return explain(place.RegistryStr(), cause)
		}
		err = explain(place.RegistryStr(), err)
		if len(p.places) > 1 {
			err = fmt.Errorf("from %s: %w", place.Name(), err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// resolve is the digest of a reference.
func (p *pull) resolve(ctx context.Context, ref name.Reference) (v1.Hash, error) {
	if d, ok := ref.(name.Digest); ok {
		return v1.NewHash(d.DigestStr())
	}
	if p.from == nil {
		h, err := p.cache.lookUpTag(ref.Name())
		if err != nil {
			return h, p.notCached()
		}
		return h, nil
	}
	var digest v1.Hash
	err := p.ask(ctx, func(place name.Repository) error {
		d, err := p.manifest(ctx, place.Tag(ref.Identifier()))
		if err == nil {
			digest = d
		}
		return err
	})
	if err != nil {
		return digest, err
	}
	return digest, p.cache.noteTag(ref.Name(), digest)
}

func (p *pull) notCached() error {
	return fmt.Errorf("%w %s, and --offline forbids to pull it: run once without --offline, or use a snapshot", ErrNotCached, p.cache.dir)
}

// manifest pulls a manifest into the cache.
func (p *pull) manifest(ctx context.Context, ref name.Reference) (v1.Hash, error) {
	d, err := p.from.Get(ctx, ref)
	if err != nil {
		if mismatch(err) {
			err = served(ref.Identifier())
		}
		return v1.Hash{}, err
	}
	if d.MediaType == types.DockerManifestSchema1 || d.MediaType == types.DockerManifestSchema1Signed {
		return v1.Hash{}, fmt.Errorf("%w: its manifest has the form of 2014, schema 1: push it again with a current tool", ErrRefused)
	}
	// The registry's word for the digest does not count.
	digest, size, err := v1.SHA256(bytes.NewReader(d.Manifest))
	if err != nil {
		return v1.Hash{}, err
	}
	return digest, p.cache.put(digest, size, bytes.NewReader(d.Manifest))
}

// small returns a manifest or configuration from the cache, where get has put it if need be.
func (p *pull) small(h v1.Hash, get func() error) ([]byte, error) {
	most := p.opts.Limits.ManifestBytes
	text, err := p.cache.read(h, most)
	altered := (*errAltered)(nil)
	switch {
	case err == nil:
		return text, nil
	case errors.As(err, &altered):
		p.cache.remove(altered.path)
		if p.from == nil {
			return nil, fmt.Errorf("%w and is removed: pull the image again without --offline", err)
		}
	case !errors.Is(err, os.ErrNotExist):
		return nil, err
	case p.from == nil:
		return nil, p.notCached()
	}
	if err := get(); err != nil {
		return nil, err
	}
	return p.cache.read(h, most)
}

// img is an image of one platform.
type img struct {
	layers []v1.Descriptor
	// labels are those of its configuration.
	labels map[string]string
}

// image follows indexes to the image of a platform.
func (p *pull) image(ctx context.Context, digest v1.Hash, depth int) (*img, error) {
	text, err := p.small(digest, func() error {
		return p.ask(ctx, func(place name.Repository) error {
			_, err := p.manifest(ctx, place.Digest(digest.String()))
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	if isIndex(text) {
		if depth >= p.opts.Limits.Nesting {
			return nil, fmt.Errorf("%w: more than %d indexes lie in each other", ErrLimit, p.opts.Limits.Nesting)
		}
		next, err := p.choose(text)
		if err != nil {
			return nil, err
		}
		return p.image(ctx, next, depth+1)
	}
	m, err := v1.ParseManifest(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("its manifest %s cannot be read: %w", digest, err)
	}
	if err := p.checkManifest(m); err != nil {
		return nil, err
	}
	text, err = p.small(m.Config.Digest, func() error { return p.blob(ctx, m.Config) })
	if err != nil {
		return nil, fmt.Errorf("its configuration: %w", err)
	}
	c, err := v1.ParseConfigFile(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("its configuration cannot be read: %w", err)
	}
	return &img{layers: m.Layers, labels: c.Config.Labels}, nil
}

func (p *pull) checkManifest(m *v1.Manifest) error {
	l := p.opts.Limits
	if !m.Config.MediaType.IsConfig() {
		return fmt.Errorf("%w: it is an artifact of type %.80q, not a container image", ErrNoCatalog, m.Config.MediaType)
	}
	if len(m.Layers) > l.Layers {
		return fmt.Errorf("%w: it has %d layers, more than %d", ErrLimit, len(m.Layers), l.Layers)
	}
	var all int64
	for _, d := range append([]v1.Descriptor{m.Config}, m.Layers...) {
		switch {
		case d.Digest.Algorithm != "sha256":
			return fmt.Errorf("%w: its manifest has a digest of the kind %.20q", ErrRefused, d.Digest.Algorithm)
		case d.Size < 0:
			return fmt.Errorf("%w: its manifest has a negative size", ErrRefused)
		case d.Size > l.LayerBytes:
			return fmt.Errorf("%w: its layer %s has %d bytes, more than %d", ErrLimit, d.Digest, d.Size, l.LayerBytes)
		}
		if all += d.Size; all > l.ImageBytes {
			return fmt.Errorf("%w: its layers have more than %d bytes", ErrLimit, l.ImageBytes)
		}
	}
	if m.Config.Size > l.ManifestBytes {
		return fmt.Errorf("%w: its configuration has %d bytes, more than %d", ErrLimit, m.Config.Size, l.ManifestBytes)
	}
	return nil
}

// blob pulls a configuration or layer into the cache. Only registries are asked: other addresses that a manifest may
// have for a layer do not count.
func (p *pull) blob(ctx context.Context, d v1.Descriptor) error {
	return p.ask(ctx, func(place name.Repository) error {
		layer, err := p.from.Layer(ctx, place.Digest(d.Digest.String()))
		if err != nil {
			return err
		}
		r, err := layer.Compressed()
		if err != nil {
			return err
		}
		defer r.Close()
		return p.cache.put(d.Digest, d.Size, r)
	})
}

// layer opens a layer, which is pulled if the cache does not have it.
func (p *pull) layer(ctx context.Context, d v1.Descriptor) (*verified, error) {
	f, err := p.cache.open(d.Digest)
	if !errors.Is(err, os.ErrNotExist) {
		return f, err
	}
	if p.from == nil {
		return nil, p.notCached()
	}
	if err := p.blob(ctx, d); err != nil {
		return nil, fmt.Errorf("its layer %s: %w", d.Digest, err)
	}
	return p.cache.open(d.Digest)
}
