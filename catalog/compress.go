package catalog

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a zstd stream can make the decoder take. zstd -19 uses 8 MiB, --ultra -22 128 MiB.
const maxWindow = 128 << 20

// decompress tells the compression by the magic number and returns the plain stream. Call done when it has been read.
// The end of a compressed stream is checked: a truncated one is an error, not the end.
func decompress(r io.Reader) (plain io.Reader, done func(), err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	magic, err := in.Peek(4)
	if err != nil && len(magic) == 0 && err != io.EOF {
		return nil, nil, fmt.Errorf("reading: %w", err)
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, fmt.Errorf("reading gzip: %w", err)
		}
		return z, func() { z.Close() }, nil
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("reading zstd: %w", err)
		}
		return z, z.Close, nil
	}
	return in, func() {}, nil
}
