package catalog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// readYAML adds the documents of a YAML stream, one object each. Documents without content are skipped. base is the
// offset of the reader's first byte.
func (b *builder) readYAML(in *bufio.Reader, base int64) error {
	var (
		doc   []byte
		start = base
		at    = base
	)
	flush := func(next int64) error {
		err := b.addYAML(doc, start)
		doc, start = doc[:0], next
		return err
	}
	for {
		line, err := in.ReadSlice('\n')
		whole := !errors.Is(err, bufio.ErrBufferFull)
		at += int64(len(line))
		if whole && separator(line) {
			if err := flush(at - int64(len(line))); err != nil {
				return err
			}
			doc = append(doc, line[3:]...) // what follows the marker on its line belongs to the next document
		} else {
			doc = append(doc, line...)
		}
		if int64(len(doc)) > b.limits.BlobBytes {
			return b.tooLarge(start)
		}
		switch {
		case err == nil:
		case errors.Is(err, bufio.ErrBufferFull):
			// The rest of a long line can be no separator.
			for errors.Is(err, bufio.ErrBufferFull) {
				line, err = in.ReadSlice('\n')
				at += int64(len(line))
				doc = append(doc, line...)
				if int64(len(doc)) > b.limits.BlobBytes {
					return b.tooLarge(start)
				}
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return &Error{Offset: at, Err: fmt.Errorf("reading: %w", err)}
			}
			if err != nil {
				return flush(at)
			}
		case errors.Is(err, io.EOF):
			return flush(at)
		default:
			return &Error{Offset: at, Err: fmt.Errorf("reading: %w", err)}
		}
	}
}

// separator reports whether a line begins or ends a YAML document.
func separator(line []byte) bool {
	line = bytes.TrimRight(line, "\r\n")
	for _, mark := range []string{"---", "..."} {
		if rest, ok := bytes.CutPrefix(line, []byte(mark)); ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t') {
			return true
		}
	}
	return false
}

func (b *builder) addYAML(doc []byte, start int64) error {
	if b.documents++; b.documents > b.limits.Blobs {
		return &Error{Offset: start, Err: fmt.Errorf("%w: more than %d documents", ErrLimit, b.limits.Blobs)}
	}
	if len(bytes.TrimSpace(doc)) == 0 {
		return nil
	}
	text, err := yaml.YAMLToJSON(doc)
	if err != nil {
		return &Error{Offset: start, Err: fmt.Errorf("in the document that begins here: %w", err)}
	}
	if string(text) == "null" {
		return nil
	}
	if text[0] != '{' {
		return &Error{Offset: start, Err: fmt.Errorf("expected an FBC object, found %q", excerpt(bytes.TrimSpace(doc)))}
	}
	var o blob
	s := scanner{b: text}
	if end := s.scanBlob(0, &o); end < 0 {
		return &Error{Offset: start, Err: fmt.Errorf("in the document that begins here: %s", s.fault)}
	}
	if err := b.add(&s, &o, text); err != nil {
		return &Error{Offset: start, Err: err}
	}
	return nil
}
