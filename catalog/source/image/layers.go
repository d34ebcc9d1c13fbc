package image

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/olmgate/olmgate/catalog"
)

const (
	// configsLabel names the directory of the File-Based Catalog in an image; defaultConfigs is where it is without.
	configsLabel   = "operators.operatorframework.io.index.configs.v1"
	defaultConfigs = "/configs"
	// ignoreName is the name of files that say which others do not count, maxIgnore the size of all of them in bytes.
	ignoreName = ".indexignore"
	maxIgnore  = 64 << 10
	// maxNodes is the number of files and directories that a catalog may have.
	maxNodes = 400_000
	// maxWindow bounds the memory that a zstd stream can make the decoder take.
	maxWindow = 128 << 20
)

// read makes the index of the catalog in an image. The layers are gone through twice: first to find which files are
// left when all lie over each other, then to read those.
func (p *pull) read(ctx context.Context, m *img) (*catalog.Index, error) {
	configs := m.labels[configsLabel]
	if configs == "" {
		configs = defaultConfigs
	}
	t := newTree(configs, min(p.opts.Limits.Entries, maxNodes))
	if len(t.configs) == 0 {
		return nil, fmt.Errorf("%w: its label %s is %.100q, which is no directory of its own", ErrNoCatalog, configsLabel, configs)
	}
	left := &allowance{bytes: p.opts.Limits.UnpackedBytes, entries: p.opts.Limits.Entries, limits: p.opts.Limits}
	ignored := int64(maxIgnore)
	for i := range m.layers {
		t.begin(i)
		err := p.eachEntry(ctx, m, i, left, func(h *tar.Header, entry int, r io.Reader) error {
			n, err := t.add(h, entry)
			if err != nil || n == nil || path.Base(h.Name) != ignoreName {
				return err
			}
			if n.text, err = io.ReadAll(io.LimitReader(r, ignored+1)); err != nil {
				return err
			}
			if ignored -= int64(len(n.text)); ignored < 0 {
				return fmt.Errorf("%w: its %s files are larger than %d bytes", ErrLimit, ignoreName, maxIgnore)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		t.end()
	}
	root := t.at(t.configs)
	if root == nil {
		return nil, fmt.Errorf("%w: it has no directory %.100q, where its label %s says that the catalog is", ErrNoCatalog, configs, configsLabel)
	}
	names, err := catalog.Files(files{root}, p.opts.Content)
	if err != nil {
		return nil, fmt.Errorf("%w: below %.100q: %w", ErrNoCatalog, configs, err)
	}
	return p.content(ctx, m, root, configs, names)
}

// content reads files of an image, which are named below root.
func (p *pull) content(ctx context.Context, m *img, root *node, configs string, names []string) (*catalog.Index, error) {
	wanted := make([]map[int]string, len(m.layers))
	for _, name := range names {
		n := (&tree{root: root}).at(split(name))
		if wanted[n.layer] == nil {
			wanted[n.layer] = map[int]string{}
		}
		wanted[n.layer][n.entry] = path.Join(configs, name)
	}
	left := &allowance{bytes: p.opts.Limits.UnpackedBytes, entries: p.opts.Limits.Entries, limits: p.opts.Limits}
	index, err := catalog.ReadEach(p.opts.Content, func(add func(string, io.Reader) error) error {
		for i := range m.layers {
			if len(wanted[i]) == 0 {
				continue
			}
			err := p.eachEntry(ctx, m, i, left, func(_ *tar.Header, entry int, r io.Reader) error {
				if name, ok := wanted[i][entry]; ok {
					return add(name, r)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if index.Stats().Blobs == 0 {
		return nil, fmt.Errorf("%w: the files below %.100q hold no FBC object", ErrNoCatalog, configs)
	}
	return index, nil
}

// allowance is what layers may still hold.
type allowance struct {
	bytes   int64
	entries int
	limits  Limits
}

// eachEntry goes through a layer. When it ends without an error, the layer is what its digest says.
func (p *pull) eachEntry(ctx context.Context, m *img, layer int, left *allowance, do func(h *tar.Header, entry int, r io.Reader) error) error {
	f, err := p.layer(ctx, m.layers[layer])
	if err != nil {
		return err
	}
	defer f.Close()
	err = walk(ctx, f, left, do)
	// A layer that was altered may look like anything, so that comes first.
	if altered := f.verify(); altered != nil {
		return altered
	}
	if err != nil {
		return fmt.Errorf("its layer %d of %d (%s): %w", layer+1, len(m.layers), m.layers[layer].Digest, err)
	}
	return nil
}

func walk(ctx context.Context, r io.Reader, left *allowance, do func(h *tar.Header, entry int, r io.Reader) error) error {
	plain, done, err := decompress(r)
	if err != nil {
		return err
	}
	defer done()
	archive := tar.NewReader(&unpacked{ctx, plain, left})
	for entry := 0; ; entry++ {
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && (errors.Is(err, ErrLimit) || ctx.Err() != nil):
			return err
		case err != nil:
			return fmt.Errorf("it cannot be read as a tar archive: %w", err)
		}
		if left.entries--; left.entries < 0 {
			return fmt.Errorf("%w: the image has more than %d files and directories", ErrLimit, left.limits.Entries)
		}
		if err := do(h, entry, archive); err != nil {
			return err
		}
	}
}

// unpacked counts what comes out of a decompressor.
type unpacked struct {
	ctx  context.Context
	r    io.Reader
	left *allowance
}

func (u *unpacked) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	n, err := u.r.Read(p)
	if u.left.bytes -= int64(n); u.left.bytes < 0 {
		return 0, fmt.Errorf("%w: the image has more than %d bytes after decompression", ErrLimit, u.left.limits.UnpackedBytes)
	}
	return n, err
}

// decompress tells the compression by the first bytes: the media type is the registry's word only.
func decompress(r io.Reader) (io.Reader, func(), error) {
	in := bufio.NewReaderSize(r, 64<<10)
	magic, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, fmt.Errorf("it cannot be read as gzip: %w", err)
		}
		return z, func() { _ = z.Close() }, nil
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("it cannot be read as zstd: %w", err)
		}
		return z, z.Close, nil
	}
	return in, func() {}, nil
}
