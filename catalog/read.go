package catalog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Read builds the index of one FBC stream: JSON lines, concatenated JSON, or YAML documents, plain or compressed with
// gzip or zstd; which, is told by its first bytes. An empty stream is an empty catalog.
//
// What is not a File-Based Catalog is refused with an *Error that has the byte offset and the reason. Whatever real
// catalogs hold is tolerated, and reported by Index.Notes: unknown schemas and properties, versions and ranges that do
// not parse, entries without a bundle. A zero Limits means the defaults; exceeding one is an error that wraps ErrLimit.
func Read(r io.Reader, limits Limits) (*Index, error) {
	b := newBuilder(limits)
	if err := b.read(r, ""); err != nil {
		return nil, err
	}
	return b.index(), nil
}

// read adds one stream.
func (b *builder) read(r io.Reader, file string) error {
	plain, done, err := decompress(r)
	if err != nil {
		return &Error{File: file, Err: err}
	}
	defer done()
	limited := &limitedReader{r: plain, left: b.limits.TotalBytes - b.stats.Bytes, limit: b.limits.TotalBytes}
	in := bufio.NewReaderSize(limited, 4096)
	skipped, json, err := sniff(in)
	if err == nil {
		if json {
			err = b.readJSON(in, skipped)
		} else {
			err = b.readYAML(in, skipped)
		}
	}
	b.stats.Bytes += limited.n
	var at *Error
	if errors.As(err, &at) {
		at.File = file
		return err
	}
	if err != nil {
		return &Error{File: file, Offset: limited.n, Err: err}
	}
	return nil
}

// sniff skips a byte order mark and white space and tells JSON from YAML by what follows.
func sniff(in *bufio.Reader) (skipped int64, json bool, err error) {
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		n, _ := in.Discard(3)
		skipped += int64(n)
	}
	for {
		c, err := in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return skipped, true, nil
		case err != nil:
			return skipped, false, fmt.Errorf("reading: %w", err)
		case c == '\n' || c == '\r':
			// Spaces before the first key of a YAML document mean something, so only whole lines are skipped.
		case c == '{':
			return skipped, true, in.UnreadByte()
		case c == ' ' || c == '\t':
			// Blank, or an indented object.
			rest, err := in.Peek(in.Buffered())
			if err != nil {
				return skipped, false, fmt.Errorf("reading: %w", err)
			}
			t := bytes.TrimLeft(rest, " \t")
			if len(t) > 0 && t[0] != '{' && t[0] != '\n' && t[0] != '\r' {
				return skipped, false, in.UnreadByte()
			}
			n, err := in.Discard(len(rest) - len(t))
			if err != nil {
				return skipped, false, fmt.Errorf("reading: %w", err)
			}
			skipped += int64(n)
		default:
			return skipped, false, in.UnreadByte()
		}
		skipped++
	}
}

// limitedReader counts bytes and refuses more than the limit. A reader that keeps returning nothing is refused too.
type limitedReader struct {
	r     io.Reader
	n     int64
	left  int64
	limit int64
	idle  int
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		// One more byte would be too many; the end is fine.
		var one [1]byte
		n, err := l.r.Read(one[:])
		if n > 0 {
			return 0, fmt.Errorf("%w: more than %d bytes", ErrLimit, l.limit)
		}
		return 0, err
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.r.Read(p)
	l.n += int64(n)
	l.left -= int64(n)
	if n == 0 && err == nil {
		if l.idle++; l.idle > 100 {
			return 0, io.ErrNoProgress
		}
	} else {
		l.idle = 0
	}
	return n, err
}

// readJSON adds concatenated JSON objects. base is the offset of the reader's first byte.
func (b *builder) readJSON(in io.Reader, base int64) error {
	const start = 256 << 10
	var (
		s    scanner
		o    blob
		buf  = make([]byte, 0, start)
		eof  bool
		next int // position in buf of the next object
	)
	for {
		// Fill the buffer before scanning, so that an object is scanned again a few times at most.
		for !eof && len(buf) < cap(buf) {
			n, err := in.Read(buf[len(buf):cap(buf)])
			buf = buf[:len(buf)+n]
			if errors.Is(err, io.EOF) {
				eof = true
			} else if err != nil {
				return &Error{Offset: base + int64(len(buf)), Err: fmt.Errorf("reading: %w", err)}
			}
		}
		s.b = buf
		for {
			if next = s.space(next); next == len(buf) {
				break
			}
			if buf[next] != '{' {
				return &Error{Offset: base + int64(next), Err: fmt.Errorf("expected an FBC object, found %q", excerpt(buf[next:]))}
			}
			end := s.scanBlob(next, &o)
			if end == short {
				break
			}
			if end == faulty {
				return &Error{Offset: base + int64(s.faultAt), Err: fmt.Errorf("%s, in the object that begins at byte %d", s.fault, base+int64(next))}
			}
			if size := int64(end - next); size > b.limits.BlobBytes {
				return b.tooLarge(base + int64(next))
			}
			if err := b.add(&s, &o, buf[next:end]); err != nil {
				return &Error{Offset: base + int64(next), Err: err}
			}
			next = end
		}
		if eof {
			if next < len(buf) {
				return &Error{Offset: base + int64(len(buf)), Err: fmt.Errorf("%w in the object that begins at byte %d", io.ErrUnexpectedEOF, base+int64(next))}
			}
			return nil
		}
		// Keep what was not scanned, make room behind it.
		rest := buf[next:]
		if int64(len(rest)) > b.limits.BlobBytes {
			return b.tooLarge(base + int64(next))
		}
		base += int64(next)
		if len(rest) > cap(buf)/2 {
			bigger := make([]byte, len(rest), 2*cap(buf))
			copy(bigger, rest)
			buf = bigger
		} else {
			buf = buf[:copy(buf[:cap(buf)], rest)]
		}
		next = 0
	}
}

func (b *builder) tooLarge(at int64) error {
	return &Error{Offset: at, Err: fmt.Errorf("%w: an object is larger than %d bytes", ErrLimit, b.limits.BlobBytes)}
}
