package source

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/olmgate/olmgate/catalog"
)

// body is the content of an answer, decompressed. It counts what it gave and remembers why it ended, since a reader of
// content may take a cut for a fault of the content.
type body struct {
	r     io.Reader
	limit int64
	given int64
	// err is why it ended; finished is true when that is its proper end.
	err      error
	finished bool
}

// newBody refuses answers whose end could not be told from a cut.
func newBody(resp *http.Response, watch *watchdog, limit int64) (*body, error) {
	var r io.Reader = watched{resp.Body, watch}
	switch encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); encoding {
	case "gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, asTruncated(fmt.Errorf("reading the gzip header: %w", err))
		}
		r = z
	case "", "identity":
		if resp.ProtoMajor == 1 && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 {
			return nil, fmt.Errorf("%w: the answer has neither a Content-Length nor chunks, so that its end cannot be told from a cut: something between olmgate and catalogd changed it", ErrRefused)
		}
	default:
		return nil, fmt.Errorf("%w: the answer has the Content-Encoding %.40q, which was not asked for: something between olmgate and catalogd changed it", ErrRefused, encoding)
	}
	return &body{r: r, limit: limit}, nil
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.r.Read(p)
	b.given += int64(n)
	switch {
	case b.given > b.limit:
		b.err = fmt.Errorf("%w: the content is larger than %d bytes", catalog.ErrLimit, b.limit)
		return 0, b.err
	case errors.Is(err, io.EOF):
		b.err, b.finished = io.EOF, true
	case err != nil:
		b.err = asTruncated(err)
	}
	return n, b.err
}

// readAll makes an index of the content, and makes sure that all of it was there.
func readAll(b *body, limits catalog.Limits) (*catalog.Index, error) {
	index, err := catalog.Read(b, limits)
	if err == nil {
		_, err = io.Copy(io.Discard, b)
	}
	if b.err != nil && !b.finished {
		return nil, fmt.Errorf("after %d bytes: %w", b.given, b.err)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the content: %w", err)
	}
	if index.Stats().Blobs == 0 {
		return nil, ErrEmpty
	}
	return index, nil
}

// asTruncated marks the errors that readers give when an end is missing.
func asTruncated(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	return err
}

// watched keeps a watchdog awake while a read waits.
type watched struct {
	r     io.Reader
	watch *watchdog
}

func (w watched) Read(p []byte) (int, error) {
	w.watch.start()
	defer w.watch.stop()
	return w.r.Read(p)
}
