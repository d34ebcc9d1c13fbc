package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/olmgate/olmgate/catalog"
)

// Reasons why a file is refused. The text of an error says which part of the file is wrong and what to do.
var (
	// ErrNotSnapshot means that the file is something else.
	ErrNotSnapshot = errors.New("it is not a snapshot of catalogs")
	// ErrVersion means that the file is a snapshot of another format version.
	ErrVersion = errors.New("it is a snapshot of another format version")
	// ErrDamaged means that the file was cut short or altered.
	ErrDamaged = errors.New("the snapshot is damaged")
)

const (
	// maxBytes is the size of what is behind the second line.
	maxBytes = 256 << 20
	// maxPrelude is the length of the first two lines.
	maxPrelude = 200
	// maxHeader is the length of the header.
	maxHeader = 16 << 20
	// maxCatalogs is the number of catalogs.
	maxCatalogs = 10_000
)

// Decode reads what Encode wrote; errors wrap one of the reasons above, or catalog.ErrLimit. The limits bound what all
// contents take together.
func Decode(r io.Reader, limits catalog.Limits) (*Snapshot, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxPrelude+maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the snapshot: %w", err)
	}
	body, err := open(raw)
	if err != nil {
		return nil, err
	}
	line, contents, found := bytes.Cut(body, []byte("\n"))
	switch {
	case !found:
		return nil, damaged("its header has no end")
	case len(line) > maxHeader:
		return nil, fmt.Errorf("%w: the header of the snapshot is larger than %d bytes", catalog.ErrLimit, maxHeader)
	}
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, damaged("its header: %v", err)
	}
	if err := h.check(int64(len(contents))); err != nil {
		return nil, err
	}
	return h.snapshot(contents, limits)
}

// open checks the first two lines and returns what is behind them.
func open(raw []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(raw, []byte(formatName))
	if !ok {
		return nil, fmt.Errorf("%w: make one by olmgate catalog snapshot, or give a File-Based Catalog by --catalog NAME=PATH", ErrNotSnapshot)
	}
	version, body, ok := cut(rest)
	if n, err := strconv.ParseUint(version, 10, 31); !ok || err != nil {
		return nil, damaged("its first line has no version")
	} else if n != Version {
		return nil, fmt.Errorf("%w: it is %d, and this olmgate reads %d: make the snapshot anew with this olmgate, or use the one that made it", ErrVersion, n, Version)
	}
	second, body, ok := cut(body)
	text, _, _ := strings.Cut(second, " ")
	size, err := strconv.ParseInt(text, 10, 64)
	switch {
	case !ok || err != nil || size < 0:
		return nil, damaged("its second line has no size")
	case size > maxBytes:
		return nil, fmt.Errorf("%w: the snapshot is larger than %d bytes", catalog.ErrLimit, maxBytes)
	case int64(len(body)) < size:
		return nil, damaged("it was cut short: it has %d of %d bytes", len(body), size)
	case int64(len(body)) > size:
		return nil, damaged("there is more behind its %d bytes", size)
	case !bytes.HasPrefix(raw, []byte(prelude(body))):
		return nil, damaged("its checksum does not match: it was altered")
	}
	return body, nil
}

// cut returns the first line, which is short, and what is behind it.
func cut(b []byte) (line string, rest []byte, ok bool) {
	i := bytes.IndexByte(b[:min(len(b), maxPrelude/2)], '\n')
	if i < 0 {
		return "", nil, false
	}
	return string(b[:i]), b[i+1:], true
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s: copy it again, or make it anew by olmgate catalog snapshot", ErrDamaged, fmt.Sprintf(format, args...))
}

// check makes sure that the header is in order and that its contents are so many bytes.
func (h *header) check(contents int64) error {
	if len(h.Catalogs) > maxCatalogs {
		return fmt.Errorf("%w: the snapshot has more than %d catalogs", catalog.ErrLimit, maxCatalogs)
	}
	for i := range h.Catalogs {
		e := &h.Catalogs[i]
		if why := validation.IsDNS1123Subdomain(e.Name); len(why) > 0 {
			return damaged("%.100q is no name of a ClusterCatalog: %s", e.Name, strings.Join(why, ", "))
		}
		if i > 0 && h.Catalogs[i-1].Name >= e.Name {
			return damaged("its catalogs are not in order at %q", e.Name)
		}
		if e.Content == nil {
			continue
		}
		if e.Content.Bytes < 0 || e.Content.Bytes > contents {
			return damaged("the content of catalog %q is not all there", e.Name)
		}
		contents -= e.Content.Bytes
	}
	if contents != 0 {
		return damaged("%d bytes belong to no catalog", contents)
	}
	return nil
}

// snapshot reads the contents of a header that is in order.
func (h *header) snapshot(contents []byte, limits catalog.Limits) (*Snapshot, error) {
	s := &Snapshot{Created: h.Created.UTC(), CreatedBy: h.CreatedBy, Catalogs: make([]Catalog, len(h.Catalogs))}
	var parts [][]byte
	var of []int
	for i := range h.Catalogs {
		s.Catalogs[i] = h.Catalogs[i].Catalog
		if c := h.Catalogs[i].Content; c != nil {
			s.Catalogs[i].Bytes = c.Bytes
			parts, of = append(parts, contents[:c.Bytes]), append(of, i)
			contents = contents[c.Bytes:]
		}
	}
	indexes, problems := catalog.DecodeAll(parts, limits)
	for n, i := range of {
		name, c := s.Catalogs[i].Name, h.Catalogs[i].Content
		switch {
		case errors.Is(problems[n], catalog.ErrLimit):
			return nil, fmt.Errorf("catalog %q: %w", name, problems[n])
		case problems[n] != nil:
			return nil, damaged("catalog %q: %v", name, problems[n])
		case *contentOf(indexes[n], int(c.Bytes)) != *c:
			return nil, damaged("the content of catalog %q is another than its header says", name)
		}
		s.Catalogs[i].Index = indexes[n]
	}
	return s, nil
}
