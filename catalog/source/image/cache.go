package image

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// cache keeps manifests, configurations and layers as they were pulled, in files named by their digests, and which
// digest a tag led to last.
//
//	blobs/sha256/HEX
//	tags/HEX.json     {"ref": ..., "digest": ...}, HEX is the SHA-256 of the reference
//
// What is read is verified: a file that was altered is not used.
type cache struct{ dir string }

func (c cache) blob(h v1.Hash) string { return filepath.Join(c.dir, "blobs", h.Algorithm, h.Hex) }

// errAltered is a file of the cache that is not what its name says.
type errAltered struct{ path string }

func (e *errAltered) Error() string {
	return fmt.Sprintf("%v: the file %s of the cache was altered", ErrDigest, e.path)
}

func (e *errAltered) Unwrap() error { return ErrDigest }

// read returns a small file, os.ErrNotExist when it is not there.
func (c cache) read(h v1.Hash, most int64) ([]byte, error) {
	f, err := c.open(h)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(text)) > most:
		return nil, fmt.Errorf("%w: %s is larger than %d bytes", ErrLimit, h, most)
	}
	return text, f.verify()
}

// verified is a file of the cache that is read from its beginning to its end.
type verified struct {
	*os.File
	sum  hash.Hash
	want string
}

// open returns a file, os.ErrNotExist when it is not there. What was read counts only if verify has no error.
func (c cache) open(h v1.Hash) (*verified, error) {
	f, err := os.Open(c.blob(h))
	if err != nil {
		return nil, err
	}
	return &verified{File: f, sum: sha256.New(), want: h.Hex}, nil
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.File.Read(p)
	v.sum.Write(p[:n])
	return n, err
}

// verify reads what is left and compares the digest.
func (v *verified) verify() error {
	if _, err := io.Copy(io.Discard, struct{ io.Reader }{v}); err != nil {
		return err
	}
	if hex.EncodeToString(v.sum.Sum(nil)) != v.want {
		return &errAltered{v.Name()}
	}
	return nil
}

// put keeps what r gives, if that is what the digest says and exactly size bytes long.
func (c cache) put(h v1.Hash, size int64, r io.Reader) error {
	sum := sha256.New()
	return c.write(c.blob(h), func(w io.Writer) error {
		n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(r, size+1))
		switch {
		case n == size && hex.EncodeToString(sum.Sum(nil)) != h.Hex, err != nil && mismatch(err):
			return served(h.String())
		case err != nil:
			return err
		case n > size:
			return fmt.Errorf("%w: %s is larger than the %d bytes that its manifest says", ErrDigest, h, size)
		case n < size:
			return fmt.Errorf("%w: %s was cut short: %d of %d bytes came", ErrDigest, h, n, size)
		}
		return nil
	})
}

// write makes a file in one step.
func (c cache) write(path string, fill func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the cache directory: %w: name another by --cache-dir", err)
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return fmt.Errorf("writing to the cache: %w: name another directory by --cache-dir", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := fill(f); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func (c cache) remove(path string) { _ = os.Remove(path) }

// tag is what a tag led to.
type tag struct {
	Ref    string `json:"ref"`
	Digest string `json:"digest"`
}

func (c cache) tagFile(ref string) string {
	sum := sha256.Sum256([]byte(ref))
	return filepath.Join(c.dir, "tags", hex.EncodeToString(sum[:])+".json")
}

func (c cache) noteTag(ref string, h v1.Hash) error {
	text, err := json.Marshal(tag{ref, h.String()})
	if err != nil {
		return err
	}
	return c.write(c.tagFile(ref), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// lookUpTag returns what a tag led to last, os.ErrNotExist when that is not known.
func (c cache) lookUpTag(ref string) (v1.Hash, error) {
	f, err := os.Open(c.tagFile(ref))
	if err != nil {
		return v1.Hash{}, err
	}
	defer f.Close()
	var t tag
	if err := json.NewDecoder(io.LimitReader(f, 64<<10)).Decode(&t); err != nil || t.Ref != ref {
		return v1.Hash{}, errors.Join(os.ErrNotExist, err)
	}
	return v1.NewHash(t.Digest)
}
