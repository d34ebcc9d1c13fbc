package image

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/olmgate/olmgate/catalog"
)

func TestLayersThatReachOutAreRefused(t *testing.T) {
	link := func(kind byte, name, to string) *tar.Header {
		return &tar.Header{Name: name, Typeflag: kind, Linkname: to}
	}
	a := []any{"configs/a.json", pkg("a")}
	for name, c := range map[string]struct {
		entries []any
		words   string
	}{
		"a path that climbs":                    {[]any{"configs/../../etc/passwd", "x"}, "leads out of the image"},
		"a path that climbs elsewhere":          {[]any{"usr/../../x", "x"}, "leads out of the image"},
		"an absolute path":                      {[]any{"/configs/b.json", pkg("b")}, "leads out of the image"},
		"an absolute symbolic link":             {[]any{link(tar.TypeSymlink, "configs/b.json", "/etc/passwd")}, "may lead out of the catalog"},
		"a symbolic link that climbs":           {[]any{link(tar.TypeSymlink, "configs/b.json", "../etc/passwd")}, "may lead out of the catalog"},
		"a symbolic link inside":                {[]any{link(tar.TypeSymlink, "configs/b.json", "a.json")}, "regular files only"},
		"the directory is a symbolic link":      {[]any{link(tar.TypeSymlink, "configs", "etc")}, "symbolic link"},
		"a file behind a symbolic link":         {[]any{link(tar.TypeSymlink, "configs/d", "/etc"), "configs/d/b.json", pkg("b")}, "symbolic link"},
		"a hard link":                           {[]any{link(tar.TypeLink, "configs/b.json", "etc/passwd")}, "hard link"},
		"a device":                              {[]any{link(tar.TypeChar, "configs/b.json", "")}, "device or pipe"},
		"a block device":                        {[]any{link(tar.TypeBlock, "configs/b.json", "")}, "device or pipe"},
		"a pipe":                                {[]any{link(tar.TypeFifo, "configs/b.json", "")}, "device or pipe"},
		"something unknown":                     {[]any{link('V', "configs/b.json", "")}, "not a regular file"},
		"the directory is a file":               {[]any{"configs", "x"}, "not a directory"},
		"a file in a file":                      {[]any{"configs/a.json/b.json", pkg("b")}, "which is not a directory"},
		"a whiteout of the directory above":     {[]any{"configs/.wh...", ""}, "leads out of its directory"},
		"a whiteout of the directory itself":    {[]any{"configs/.wh..", ""}, "leads out of its directory"},
		"a whiteout of nothing":                 {[]any{"configs/.wh.", ""}, "leads out of its directory"},
		"a path longer than the system's limit": {[]any{"configs/" + strings.Repeat("d/", maxPath/2) + "b.json", pkg("b")}, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, false)
			tag, _ := s.push(t, "hub:v1", imageOf(t, [][]byte{packed(t, a...), packed(t, c.entries...)}))
			refused(t, tag, options(t), nil, "layer 2 of 2 (sha256:", c.words)
		})
	}
}

func TestImagesThatAreNoCatalogs(t *testing.T) {
	for name, c := range map[string]struct {
		layer []byte
		label string
		words []string
	}{
		"no such directory":                {packed(t, "manifests/x.yaml", "kind: x"), "/configs", []string{`no directory "/configs"`, configsLabel}},
		"an empty directory":               {packed(t, "configs/"), "/configs", []string{`below "/configs"`, "no file"}},
		"everything ignored":               {packed(t, "configs/.indexignore", "*"), "/configs", []string{".indexignore leaves out all"}},
		"files without a blob":             {packed(t, "configs/a.json", " "), "/configs", []string{"no FBC object"}},
		"the whole image":                  {packed(t, "a.json", pkg("a")), "/", []string{"no directory of its own"}},
		"the whole image in other words":   {packed(t, "a.json", pkg("a")), "/x/../..", []string{"no directory of its own"}},
		"content that is broken":           {packed(t, "configs/x/a.json", `{"schema":`), "/configs", []string{"/configs/x/a.json: byte 10"}},
		"content that is none":             {packed(t, "configs/a.json", "ELF"), "/configs", []string{"/configs/a.json"}},
		"a layer that is no archive":       {[]byte(strings.Repeat("no archive ", 100)), "", []string{"tar archive"}},
		"a layer that ends too early":      {packed(t, "configs/a.json", strings.Repeat(pkg("a"), 100))[:1000], "", []string{"tar archive"}},
		"a layer that is broken gzip":      {[]byte{0x1f, 0x8b, 8, 0, 0}, "", []string{"gzip"}},
		"a gzip layer that ends too early": {zipped(t, packed(t, "configs/a.json", pkg("a")))[:60], "", []string{"unexpected EOF"}},
		"a zstd layer that wants memory":   {[]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 1, 0, 0}, "", []string{"window"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, false)
			tag, _ := s.push(t, "hub:v1", imageOf(t, [][]byte{c.layer}, configsLabel, c.label))
			refused(t, tag, options(t), nil, c.words...)
		})
	}
}

// zeros is a layer with a file that long which packs well.
func zeros(t *testing.T, name string, n int64) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: n}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(w, spaces{}, n); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return zstded(t, out.Bytes())
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestLimitsAreKept(t *testing.T) {
	bomb := zeros(t, "configs/a.json", 64<<20)
	small := packed(t, "configs/a.json", pkg("a"))
	for name, c := range map[string]struct {
		layers [][]byte
		limits Limits
		reason error
		words  string
	}{
		"a bomb in the catalog":          {[][]byte{bomb}, Limits{UnpackedBytes: 1 << 20}, ErrLimit, "after decompression"},
		"a bomb elsewhere":               {[][]byte{small, zeros(t, "bin/x", 64<<20)}, Limits{UnpackedBytes: 1 << 20}, ErrLimit, "layer 2 of 2"},
		"a bomb of all layers together":  {[][]byte{bomb, bomb}, Limits{UnpackedBytes: 100 << 20}, ErrLimit, "after decompression"},
		"more layers than sane":          {[][]byte{small, small, small}, Limits{Layers: 2}, ErrLimit, "3 layers, more than 2"},
		"more files than sane":           {[][]byte{small, packed(t, "a", "", "b", "", "c", "")}, Limits{Entries: 3}, ErrLimit, "more than 3 files"},
		"more directories in one path":   {[][]byte{packed(t, "configs/"+strings.Repeat("d/", 100)+"a.json", pkg("a"))}, Limits{Entries: 50}, ErrLimit, "more than 50 files"},
		"a layer that is too large":      {[][]byte{bytes.Repeat([]byte{0}, 10_000)}, Limits{LayerBytes: 9_999}, ErrLimit, "10000 bytes, more than 9999"},
		"layers that are together":       {[][]byte{small, small, small}, Limits{ImageBytes: int64(2 * len(small))}, ErrLimit, "its layers have more than"},
		"a configuration that is larger": {[][]byte{small}, Limits{ManifestBytes: 10}, ErrLimit, "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, false)
			tag, _ := s.push(t, "hub:v1", imageOf(t, c.layers))
			refused(t, tag, options(t, func(o *Options) { o.Limits = c.limits }), c.reason, c.words)
		})
	}
	t.Run("a bomb for the reader of catalogs", func(t *testing.T) {
		s := serve(t, false)
		tag, _ := s.push(t, "hub:v1", imageOf(t, [][]byte{bomb}))
		refused(t, tag, options(t, func(o *Options) { o.Content.TotalBytes = 1 << 20 }), catalog.ErrLimit, "/configs/a.json")
	})
	t.Run("ignore files", func(t *testing.T) {
		s := serve(t, false)
		tag, _ := s.push(t, "hub:v1", imageOf(t, [][]byte{packed(t, "configs/.indexignore", strings.Repeat("x\n", maxIgnore))}))
		refused(t, tag, options(t), ErrLimit, ".indexignore")
	})
}

// raw is a manifest of any text.
type raw struct {
	text []byte
	kind types.MediaType
}

// altered is a manifest with a change.
func altered(t *testing.T, img v1.Image, change func(*v1.Manifest)) raw {
	t.Helper()
	m, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	m = m.DeepCopy()
	change(m)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw{text, types.OCIManifestSchema1}
}

func TestManifestsThatAreWrong(t *testing.T) {
	img := imageOf(t, [][]byte{packed(t, "configs/a.json", pkg("a"))})
	for name, c := range map[string]struct {
		manifest raw
		reason   error
		words    string
	}{
		"no JSON":              {raw{[]byte("no JSON"), types.OCIManifestSchema1}, nil, "manifest"},
		"nothing":              {raw{[]byte("{}"), types.OCIManifestSchema1}, ErrNoCatalog, "artifact"},
		"a list":               {raw{[]byte("[]"), types.OCIManifestSchema1}, nil, "manifest"},
		"an endless one":       {raw{[]byte(`{"schemaVersion":2,"config":{"a":"` + strings.Repeat("x", 10<<20)), types.OCIManifestSchema1}, ErrLimit, "larger than it may be"},
		"of 2014":              {raw{[]byte(`{"schemaVersion":1}`), types.DockerManifestSchema1Signed}, ErrRefused, "2014"},
		"an artifact":          {altered(t, img, func(m *v1.Manifest) { m.Config.MediaType = "application/vnd.cncf.helm.config.v1+json" }), ErrNoCatalog, "helm"},
		"a layer of 5 TB":      {altered(t, img, func(m *v1.Manifest) { m.Layers[0].Size = 5e12 }), ErrLimit, "5000000000000 bytes"},
		"a negative size":      {altered(t, img, func(m *v1.Manifest) { m.Layers[0].Size = -1 }), ErrRefused, "negative"},
		"a layer that is more": {altered(t, img, func(m *v1.Manifest) { m.Layers[0].Size-- }), ErrDigest, "larger than"},
		"a layer that is less": {altered(t, img, func(m *v1.Manifest) { m.Layers[0].Size++ }), ErrDigest, "cut short"},
		"another digest": {altered(t, img, func(m *v1.Manifest) {
			m.Layers[0].Digest.Algorithm, m.Layers[0].Digest.Hex = "sha512", strings.Repeat("0", 128)
		}), ErrRefused, "sha512"},
		"a layer that is absent": {altered(t, img, func(m *v1.Manifest) {
			m.Layers[0].Digest.Hex = strings.Repeat("0", 64)
			m.Layers[0].URLs = []string{"http://127.0.0.1:1/x"}
		}), nil, "check the name"},
		"an absent config":     {altered(t, img, func(m *v1.Manifest) { m.Config.Digest.Hex = strings.Repeat("0", 64) }), nil, "its configuration"},
		"a config that is not": {altered(t, img, func(m *v1.Manifest) { m.Config.Digest, m.Config.Size = m.Layers[0].Digest, m.Layers[0].Size }), nil, "its configuration cannot be read"},
		"too large":            {raw{bytes.Repeat([]byte(" "), 5<<20), types.OCIManifestSchema1}, ErrLimit, "larger than it may be"},
		"an empty index":       {raw{[]byte(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`), types.OCIImageIndex}, nil, "but for none"},
		"an index of thousands": {raw{[]byte(`{"schemaVersion":2,"manifests":[` + strings.Repeat(`{},`, 2000) + `{}]}`), types.OCIManifestSchema1}, ErrLimit,
			"2001 entries, more than 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, false)
			tag, _ := s.push(t, "hub:v1", img)
			s.ask(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/manifests/v1") {
					return false
				}
				w.Header().Set("Content-Type", string(c.manifest.kind))
				_, _ = w.Write(c.manifest.text)
				return true
			})
			refused(t, tag, options(t), c.reason, c.words)
		})
	}
}

func TestIndexesInIndexesEnd(t *testing.T) {
	s := serve(t, false)
	var add mutate.Appendable = imageOf(t, [][]byte{packed(t, "configs/a.json", pkg("a"))})
	for depth := range 6 {
		index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: add, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}})
		tag, _ := s.push(t, fmt.Sprintf("hub:v%d", depth), index)
		if depth < 3 {
			if got := mustLoad(t, tag, options(t)); got != "a" {
				t.Errorf("%d indexes: got %q", depth+1, got)
			}
		} else {
			refused(t, tag, options(t), ErrLimit, "more than 3 indexes")
		}
		add = index
	}
}

func TestARegistryThatServesSomethingElse(t *testing.T) {
	s := serve(t, false)
	_, digest := s.push(t, "hub:v1", imageOf(t, [][]byte{zipped(t, packed(t, "configs/a.json", pkg("a")))}))
	_, other := s.push(t, "hub:v2", imageOf(t, [][]byte{zipped(t, packed(t, "configs/b.json", pkg("b")))}))
	from, to := digest[strings.Index(digest, "@")+1:], other[strings.Index(other, "@")+1:]
	t.Run("another manifest", func(t *testing.T) {
		s.ask(func(_ http.ResponseWriter, r *http.Request) bool {
			r.URL.Path = strings.Replace(r.URL.Path, from, to, 1)
			return false
		})
		o := options(t)
		refused(t, digest, o, ErrDigest, "something else", from)
		nothingKept(t, o)
	})
	for _, kind := range []string{"altered", "cut", "more"} {
		t.Run("a blob that is "+kind, func(t *testing.T) {
			s.ask(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, "/blobs/") {
					return false
				}
				answer := httptest.NewRecorder()
				s.back.ServeHTTP(answer, r)
				text := answer.Body.Bytes()
				switch kind {
				case "altered":
					text[len(text)/2] ^= 1
				case "cut":
					text = text[:len(text)-1]
				case "more":
					text = append(text, ' ')
				}
				_, _ = w.Write(text)
				return true
			})
			o := options(t)
			refused(t, digest, o, ErrDigest)
			if list, _ := filepath.Glob(filepath.Join(o.CacheDir, "blobs", "sha256", "*")); len(list) != 1 {
				t.Errorf("the cache has %v, want the manifest only", list)
			}
		})
	}
	t.Run("a mirror that lies does not hinder", func(t *testing.T) {
		good := serve(t, false)
		_, ref := good.push(t, "hub:v1", imageOf(t, [][]byte{zipped(t, packed(t, "configs/a.json", pkg("a")))}))
		s.ask(func(_ http.ResponseWriter, r *http.Request) bool {
			r.URL.Path = strings.Replace(r.URL.Path, from, to, 1)
			return false
		})
		if got := mustLoad(t, ref, options(t, func(o *Options) { o.Mirrors = []Mirror{{good.host, s.host}} })); got != "a" {
			t.Errorf("got %q", got)
		}
	})
}

// nothingKept makes sure that the cache has no blob, and no part of one.
func nothingKept(t *testing.T, o Options) {
	t.Helper()
	if list, err := os.ReadDir(filepath.Join(o.CacheDir, "blobs", "sha256")); err == nil && len(list) > 0 {
		t.Errorf("the cache has %v", list)
	}
}

func TestARegistryThatStalls(t *testing.T) {
	s := serve(t, false)
	tag, _ := s.push(t, "hub:v1", imageOf(t, [][]byte{packed(t, "configs/a.json", pkg("a"))}))
	for name, c := range map[string]struct {
		part string
		do   func(w http.ResponseWriter, r *http.Request)
	}{
		"at once":         {"/v2/", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		"at the manifest": {"/manifests/", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		"in a blob": {"/blobs/", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "{")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s.ask(func(w http.ResponseWriter, r *http.Request) bool {
				if strings.Contains(r.URL.Path, c.part) {
					c.do(w, r)
					return true
				}
				return false
			})
			refused(t, tag, options(t, func(o *Options) { o.Stall = 100 * time.Millisecond }), ErrStalled, "nothing arrived for 100ms", "--registry-mirror")
		})
	}
	t.Run("a byte now and then", func(t *testing.T) {
		s.ask(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/blobs/") {
				return false
			}
			for tick := time.NewTicker(5 * time.Millisecond); ; {
				select {
				case <-tick.C:
					_, _ = io.WriteString(w, " ")
					_ = http.NewResponseController(w).Flush()
				case <-r.Context().Done():
					tick.Stop()
					return true
				}
			}
		})
		// More than the configuration has would be an error too, and comes later.
		refused(t, tag, options(t, func(o *Options) { o.Total = 200 * time.Millisecond }), ErrDeadline, "not complete after 200ms")
	})
	t.Run("a connection that is never made", func(t *testing.T) {
		o := options(t, func(o *Options) {
			o.Stall = 100 * time.Millisecond
			o.dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		})
		refused(t, tag, o, ErrStalled)
	})
	t.Run("whoever asks goes away", func(t *testing.T) {
		s.ask(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
		src, err := New(options(t))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		if _, err := src.Load(ctx, tag); err == nil || !strings.Contains(err.Error(), "context canceled") {
			t.Errorf("got %v", err)
		}
	})
}

func TestRedirects(t *testing.T) {
	s, cdn := serve(t, false), serve(t, false)
	img := imageOf(t, [][]byte{packed(t, "configs/a.json", pkg("a"))})
	tag, _ := s.push(t, "hub:v1", img)
	cdn.push(t, "hub:v1", img)
	blobsTo := func(where func(r *http.Request) string) front {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/blobs/") {
				return false
			}
			http.Redirect(w, r, where(r), http.StatusTemporaryRedirect)
			return true
		}
	}
	t.Run("blobs elsewhere", func(t *testing.T) {
		elsewhere := blobsTo(func(r *http.Request) string { return "http://" + cdn.host + r.URL.Path })
		s.ask(func(w http.ResponseWriter, r *http.Request) bool {
			if _, _, ok := r.BasicAuth(); !ok {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				w.WriteHeader(http.StatusUnauthorized)
				return true
			}
			return elsewhere(w, r)
		})
		cdn.ask(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Authorization") != "" {
				t.Error("the credentials went along")
			}
			return false
		})
		potter := fixed{authn.FromConfig(authn.AuthConfig{Username: "potter", Password: "clay"})}
		if got := mustLoad(t, tag, options(t, func(o *Options) { o.Keychain = potter })); got != "a" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("for ever", func(t *testing.T) {
		s.ask(blobsTo(func(r *http.Request) string { return r.URL.Path }))
		refused(t, tag, options(t), ErrRefused, "redirects more than 5 times")
	})
	t.Run("to plain HTTP", func(t *testing.T) {
		s.ask(blobsTo(func(*http.Request) string { return "http://example.com/x" }))
		refused(t, tag, options(t), ErrRefused, "example.com", "plain HTTP")
	})
	t.Run("to an address of the cloud", func(t *testing.T) {
		s.ask(blobsTo(func(*http.Request) string { return "https://169.254.169.254/latest" }))
		refused(t, tag, options(t), nil, "169.254.169.254")
	})
}

func TestPlainHTTPIsForThisMachine(t *testing.T) {
	s := serve(t, false)
	s.push(t, "hub:v1", imageOf(t, [][]byte{packed(t, "configs/a.json", pkg("a"))}))
	for _, host := range []string{"10.1.2.3:5000", "registry.local", "example.com"} {
		o := options(t, func(o *Options) {
			o.dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, s.host)
			}
		})
		before := s.requests.Load()
		refused(t, host+"/hub:v1", o, nil)
		if n := s.requests.Load() - before; n > 0 {
			t.Errorf("%s: %d requests over plain HTTP", host, n)
		}
	}
}
