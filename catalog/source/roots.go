package source

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

const (
	maxCAFile  = 4 << 20
	maxCAFiles = 1000
)

// roots is the set of CAs that are trusted: the system's and those of files. The files are read before every fetch, so
// that a rotated CA counts without a restart: they are a few kB, a fetch is rare and moves megabytes.
type roots struct {
	paths []string

	mu   sync.Mutex
	sum  [sha256.Size]byte
	pool *x509.CertPool
}

// get returns the current pool, and whether it is another than last time. When the files cannot be read, as may happen
// in the middle of a rotation, the last good pool stays.
func (r *roots) get() (*x509.CertPool, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all bytes.Buffer
	for _, path := range r.paths {
		if err := readCA(path, &all); err != nil {
			if r.pool != nil {
				return r.pool, false, nil
			}
			return nil, false, fmt.Errorf("%w: %w: mount the CA that signed catalogd's serving certificate, or correct the path", ErrCA, err)
		}
	}
	sum := sha256.Sum256(all.Bytes())
	if r.pool != nil && sum == r.sum {
		return r.pool, false, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	pool.AppendCertsFromPEM(all.Bytes())
	r.pool, r.sum = pool, sum
	return pool, true, nil
}

// readCA appends the certificates of a file, or of each file of a directory. A directory may hold other files, such as
// the key in a mounted Secret; a path that holds no certificate at all is an error.
func readCA(path string, out *bytes.Buffer) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	files := []string{path}
	if info.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		if len(entries) > maxCAFiles {
			return fmt.Errorf("%s has more than %d entries", path, maxCAFiles)
		}
		files = files[:0]
		for _, e := range entries {
			file := filepath.Join(path, e.Name())
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
				files = append(files, file)
			}
		}
	}
	before := out.Len()
	for _, file := range files {
		if err := appendCertificates(file, out); err != nil {
			return err
		}
	}
	if out.Len() == before {
		return fmt.Errorf("%s holds no PEM certificate", path)
	}
	return nil
}

func appendCertificates(file string, out *bytes.Buffer) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCAFile+1))
	if err != nil {
		return err
	}
	if len(data) > maxCAFile {
		return &fs.PathError{Op: "read", Path: file, Err: fmt.Errorf("it is larger than %d bytes", maxCAFile)}
	}
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return nil
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := pem.Encode(out, &pem.Block{Type: block.Type, Bytes: block.Bytes}); err != nil {
			return err
		}
	}
}
