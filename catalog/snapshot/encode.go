package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	// formatName is followed by the version of the format and the end of the line.
	formatName = "olmgate-snapshot-"
	// Version of the format. Decode reads no other.
	Version = 1
)

// Encode writes a snapshot and sets the Bytes of its catalogs. What Decode would not take is an error, and nothing is
// written then.
func (s *Snapshot) Encode(w io.Writer) error {
	h := header{Created: s.Created.UTC().Truncate(time.Second), CreatedBy: s.CreatedBy, Catalogs: make([]entry, len(s.Catalogs))}
	var contents bytes.Buffer
	for i := range s.Catalogs {
		c := &s.Catalogs[i]
		c.Bytes = 0
		h.Catalogs[i].Catalog = *c
		if c.Index == nil {
			continue
		}
		before := contents.Len()
		if err := c.Index.Encode(&contents); err != nil {
			return fmt.Errorf("catalog %q: %w", c.Name, err)
		}
		h.Catalogs[i].Content = contentOf(c.Index, contents.Len()-before)
		c.Bytes = h.Catalogs[i].Content.Bytes
	}
	if err := h.check(int64(contents.Len())); err != nil {
		return err
	}
	body, err := json.Marshal(h)
	if err != nil {
		return err
	}
	body = append(append(body, '\n'), contents.Bytes()...)
	if len(body) > maxBytes {
		return fmt.Errorf("the snapshot would be larger than %d bytes", maxBytes)
	}
	_, err = io.Copy(w, io.MultiReader(strings.NewReader(prelude(body)), bytes.NewReader(body)))
	return err
}

// prelude is the first two lines.
func prelude(body []byte) string {
	return fmt.Sprintf("%s%d\n%d bytes, sha256:%x\n", formatName, Version, len(body), sha256.Sum256(body))
}
