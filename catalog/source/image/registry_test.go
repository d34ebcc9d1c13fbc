package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
)

// kiln is a catalog with one package, of one bundle of that version.
func kiln(version string) string {
	return `{"schema":"olm.package","name":"kiln-operator","defaultChannel":"stable"}
{"schema":"olm.channel","package":"kiln-operator","name":"stable","entries":[{"name":"kiln-operator.v` + version + `"}]}
{"schema":"olm.bundle","package":"kiln-operator","name":"kiln-operator.v` + version + `","image":"example.com/kiln:` + version + `","properties":[{"type":"olm.package","value":{"packageName":"kiln-operator","version":"` + version + `"}}]}
`
}

// pkg is an olm.package blob.
func pkg(name string) string { return `{"schema":"olm.package","name":"` + name + `"}` + "\n" }

// packed writes a layer. Each entry is a header, or a name followed by its content; a name with a slash behind it is a
// directory.
func packed(t testing.TB, entries ...any) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i := 0; i < len(entries); i++ {
		var h *tar.Header
		text := ""
		switch e := entries[i].(type) {
		case *tar.Header:
			h = e
		case string:
			h = &tar.Header{Name: e, Typeflag: tar.TypeDir, Mode: 0o755}
			if !strings.HasSuffix(e, "/") {
				i++
				text = entries[i].(string)
				h = &tar.Header{Name: e, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}
			}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstded(t testing.TB, text []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(text, nil)
}

// imageOf makes an image of layers, with labels as key and value in turn.
func imageOf(t testing.TB, layers [][]byte, labels ...string) v1.Image {
	t.Helper()
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", "amd64"
	config.Config.Labels = map[string]string{}
	for i := 0; i < len(labels); i += 2 {
		config.Config.Labels[labels[i]] = labels[i+1]
	}
	if img, err = mutate.ConfigFile(img, config); err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		if img, err = mutate.AppendLayers(img, static.NewLayer(l, types.OCILayer)); err != nil {
			t.Fatal(err)
		}
	}
	return img
}

// server is a real registry on this machine.
type server struct {
	*httptest.Server
	host string
	// requests and connections are counted.
	requests, connections atomic.Int64
	front                 atomic.Pointer[front]
	// back is the registry itself.
	back http.Handler
}

// front is asked before the registry; it reports whether it has answered.
type front func(http.ResponseWriter, *http.Request) bool

// ask puts a front before the registry, nil for none. A request that was given up may still be on its way.
func (s *server) ask(f front) { s.front.Store(&f) }

// serve starts a registry, by TLS if so asked.
func serve(t testing.TB, tls bool) *server {
	t.Helper()
	s := &server{back: registry.New(registry.Logger(log.New(io.Discard, "", 0)))}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if f := s.front.Load(); f == nil || *f == nil || !(*f)(w, r) {
			s.back.ServeHTTP(w, r)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	if tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	s.host = s.Listener.Addr().String()
	return s
}

// push puts an image or index into the registry, and returns its reference and the one by digest.
func (s *server) push(t testing.TB, path string, what remote.Taggable) (tag, digest string) {
	t.Helper()
	defer s.front.Store(s.front.Load())
	s.ask(nil)
	ref, err := name.NewTag(s.host+"/"+path, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	options := []remote.Option{remote.WithTransport(s.Client().Transport)}
	switch x := what.(type) {
	case v1.Image:
		err = remote.Write(ref, x, options...)
	case v1.ImageIndex:
		err = remote.WriteIndex(ref, x, options...)
	default:
		err = remote.Put(ref, x, options...)
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := remote.Head(ref, options...)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Name(), ref.Context().Digest(d.Digest.String()).Name()
}

// options are for tests: a cache of their own, no credentials, no waits.
func options(t testing.TB, change ...func(*Options)) Options {
	o := Options{CacheDir: t.TempDir(), Keychain: authn.NewMultiKeychain(), Stall: 5 * time.Second, retry: time.Millisecond}
	for _, c := range change {
		c(&o)
	}
	return o
}

// load reads one image.
func load(t testing.TB, ref string, o Options) (*Content, error) {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s.Load(t.Context(), ref)
}

// mustLoad returns the names of the packages in an image, and their bundles.
func mustLoad(t testing.TB, ref string, o Options) string {
	t.Helper()
	c, err := load(t, ref, o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range c.Index.Packages() {
		names = append(names, p.Name)
		for i := range p.Bundles {
			names = append(names, p.Bundles[i].Name)
		}
	}
	return strings.Join(names, " ")
}

// refused checks that an image is refused for a reason, in words, with its name.
func refused(t testing.TB, ref string, o Options, reason error, words ...string) {
	t.Helper()
	c, err := load(t, ref, o)
	if err == nil {
		t.Fatalf("it was taken: %+v", c.Index.Stats())
	}
	if reason != nil && !errors.Is(err, reason) {
		t.Errorf("%v is not: %v", err, reason)
	}
	for _, w := range append(words, "image "+ref+": ") {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is missing in: %v", w, err)
		}
	}
}

// noDial fails the test when a connection is made.
func noDial(t testing.TB) func(context.Context, string, string) (net.Conn, error) {
	return func(_ context.Context, _, address string) (net.Conn, error) {
		t.Errorf("a connection to %s", address)
		return nil, errors.New("no network")
	}
}
