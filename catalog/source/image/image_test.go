package image

import (
	"archive/tar"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLayersLieOverEachOther(t *testing.T) {
	label := []string{configsLabel, "/configs"}
	for name, c := range map[string]struct {
		layers [][]byte
		labels []string
		want   string
	}{
		"one layer": {[][]byte{packed(t, "configs/", "configs/kiln/catalog.json", kiln("1.0.0"))}, label, "kiln-operator kiln-operator.v1.0.0"},
		"without a label it is /configs": {
			[][]byte{packed(t, "configs/a.json", pkg("a"))}, nil, "a",
		},
		"the label may have no slash before and one behind": {
			[][]byte{packed(t, "x/y/a.json", pkg("a"), "configs/b.json", pkg("b"))}, []string{configsLabel, "x/y/"}, "a",
		},
		"names may begin with a period and a slash": {
			[][]byte{packed(t, "./configs/", "./configs/a.json", pkg("a"))}, label, "a",
		},
		"gzip, zstd and plain": {
			[][]byte{zipped(t, packed(t, "configs/a.json", pkg("a"))), zstded(t, packed(t, "configs/b.json", pkg("b"))), packed(t, "configs/c.json", pkg("c"))}, label, "a b c",
		},
		"a file is replaced": {
			[][]byte{packed(t, "configs/a.json", pkg("old")), packed(t, "configs/a.json", pkg("new"))}, label, "new",
		},
		"of two in one layer the last counts": {
			[][]byte{packed(t, "configs/a.json", pkg("old"), "configs/a.json", pkg("new"))}, label, "new",
		},
		"a file is removed": {
			[][]byte{packed(t, "configs/a.json", pkg("a"), "configs/b.json", pkg("b")), packed(t, "configs/.wh.a.json", "")}, label, "b",
		},
		"a directory is removed, and made anew in the same layer": {
			[][]byte{packed(t, "configs/a/a.json", pkg("old")), packed(t, "configs/a/b.json", pkg("new"), "configs/.wh.a", "")}, label, "new",
		},
		"the whole directory is removed from above": {
			[][]byte{packed(t, "configs/a.json", pkg("old")), packed(t, ".wh.configs", ""), packed(t, "configs/b.json", pkg("b"))}, label, "b",
		},
		"a directory is opaque": {
			[][]byte{packed(t, "configs/a.json", pkg("old"), "configs/x/b.json", pkg("old2")), packed(t, "configs/", "configs/c.json", pkg("c"), "configs/.wh..wh..opq", "")}, label, "c",
		},
		"the root is opaque": {
			[][]byte{packed(t, "configs/a.json", pkg("old")), packed(t, ".wh..wh..opq", "", "configs/c.json", pkg("c"))}, label, "c",
		},
		"marks of storage drivers mean nothing": {
			[][]byte{packed(t, "configs/a.json", pkg("a")), packed(t, "configs/.wh..wh.aufs", "")}, label, "a",
		},
		"a whiteout of what is not there": {
			[][]byte{packed(t, "configs/a.json", pkg("a"), "configs/.wh.b.json", "", "elsewhere/.wh.c", "")}, label, "a",
		},
		"a file takes the place of a directory, and the other way round": {
			[][]byte{packed(t, "configs/a/a.json", pkg("old"), "configs/b", pkg("old2")), packed(t, "configs/a", pkg("a"), "configs/b/", "configs/b/b.json", pkg("b"))}, label, "a b",
		},
		"what is ignored does not count": {
			[][]byte{packed(t, "configs/.indexignore", "*.md\n/x\n", "configs/README.md", "# no FBC", "configs/x/y", "no FBC"), packed(t, "configs/a.json", pkg("a"))}, label, "a",
		},
		"an ignore file that is removed does not count": {
			[][]byte{packed(t, "configs/.indexignore", "*.json\n", "configs/a.json", pkg("a")), packed(t, "configs/.wh..indexignore", "")}, label, "a",
		},
		"links and devices elsewhere do no harm": {
			[][]byte{packed(t, &tar.Header{Name: "bin", Typeflag: tar.TypeSymlink, Linkname: "/usr/bin"}, &tar.Header{Name: "usr/bin/b", Typeflag: tar.TypeLink, Linkname: "usr/bin/a"},
				&tar.Header{Name: "dev/null", Typeflag: tar.TypeChar}, &tar.Header{Name: "configsx", Typeflag: tar.TypeSymlink, Linkname: "../.."}, "configs/a.json", pkg("a"))}, label, "a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, false)
			tag, digest := s.push(t, "catalogs/hub:v1", imageOf(t, c.layers, c.labels...))
			o := options(t)
			if got := mustLoad(t, tag, o); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			// From the cache, and by digest, it is the same.
			o.Offline, o.dial = true, noDial(t)
			for _, ref := range []string{tag, digest} {
				if got := mustLoad(t, ref, o); got != c.want {
					t.Errorf("%s from the cache: got %q, want %q", ref, got, c.want)
				}
			}
		})
	}
}

func TestWhatIsCachedIsNotPulledAgain(t *testing.T) {
	s := serve(t, false)
	tag, digest := s.push(t, "hub:v1", imageOf(t, [][]byte{packed(t, "configs/a.json", pkg("a"))}))
	o := options(t)
	c, err := load(t, tag, o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Resolved != digest {
		t.Errorf("resolved to %q, want %q", c.Resolved, digest)
	}
	blobs := 0
	s.ask(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			blobs++
		}
		return false
	})
	mustLoad(t, tag, o)
	if blobs > 0 {
		t.Errorf("%d blobs were pulled again", blobs)
	}
	before := s.requests.Load()
	mustLoad(t, digest, o)
	if n := s.requests.Load() - before; n > 0 {
		t.Errorf("%d requests for a digest that is in the cache", n)
	}

	// A tag may lead elsewhere by now; --offline takes what it led to last.
	s.push(t, "hub:v1", imageOf(t, [][]byte{packed(t, "configs/b.json", pkg("b"))}))
	if got := mustLoad(t, tag, o); got != "b" {
		t.Errorf("got %q, want the new content", got)
	}
}

func TestOfflineUsesNoNetwork(t *testing.T) {
	s := serve(t, false)
	tag, digest := s.push(t, "hub:v1", imageOf(t, [][]byte{packed(t, "configs/a.json", pkg("a"))}))
	before := s.connections.Load()
	o := options(t)
	o.Offline, o.dial = true, noDial(t)
	refused(t, tag, o, ErrNotCached, o.CacheDir, "without --offline")
	refused(t, digest, o, ErrNotCached, "without --offline")
	if n := s.connections.Load() - before; n != 0 {
		t.Errorf("%d connections", n)
	}
	if list, err := os.ReadDir(o.CacheDir); err != nil || len(list) > 0 {
		t.Errorf("the cache has %v, %v", list, err)
	}
}

func TestAnAlteredCacheIsNotUsed(t *testing.T) {
	s := serve(t, false)
	tag, digest := s.push(t, "hub:v1", imageOf(t, [][]byte{zipped(t, packed(t, "configs/a.json", pkg("a")))}))
	o := options(t)
	mustLoad(t, tag, o)
	files, err := filepath.Glob(filepath.Join(o.CacheDir, "blobs", "sha256", "*"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v, want a manifest, a configuration and a layer", files, err)
	}
	for _, file := range files {
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for how, bad := range map[string][]byte{"cut": good[:len(good)/2], "empty": nil, "more": append(append([]byte{}, good...), ' '), "other": []byte(strings.Replace(string(good), "a", "b", 1) + "x")} {
			offline := o
			offline.Offline, offline.dial = true, noDial(t)
			for _, ref := range []string{tag, digest} {
				if err := os.WriteFile(file, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				refused(t, ref, offline, ErrDigest, file, "without --offline")
				if err := os.WriteFile(file, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				if got := mustLoad(t, ref, o); got != "a" {
					t.Errorf("%s, %s: got %q", file, how, got)
				}
			}
			if now, err := os.ReadFile(file); err != nil || string(now) != string(good) {
				t.Errorf("%s, %s: it was not pulled again: %v", file, how, err)
			}
		}
	}
}

func TestCredentialsAndTLS(t *testing.T) {
	s := serve(t, true)
	tag, _ := s.push(t, "catalogs/hub:v1", imageOf(t, [][]byte{packed(t, "configs/a.json", pkg("a"))}))
	s.ask(func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, ok := r.BasicAuth(); ok && user == "potter" && password == "clay" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="kilns"`)
		http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"who are you?"}]}`, http.StatusUnauthorized)
		return true
	})
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	trusting := func(o *Options) { o.roots = roots }

	refused(t, tag, options(t), nil, "SSL_CERT_FILE")
	refused(t, tag, options(t, trusting), nil, "podman login "+s.host, "REGISTRY_AUTH_FILE")

	// Credentials by Podman's file, of the registry and of a part of it, and by Docker's.
	home := t.TempDir()
	for name, c := range map[string]struct{ env, file, key string }{
		"podman's file":                 {"REGISTRY_AUTH_FILE", "auth.json", s.host},
		"podman's file, of a path":      {"REGISTRY_AUTH_FILE", "auth.json", s.host + "/catalogs"},
		"podman's in the runtime":       {"XDG_RUNTIME_DIR", "containers/auth.json", s.host},
		"podman's in the configuration": {"XDG_CONFIG_HOME", "containers/auth.json", s.host},
		"docker's":                      {"DOCKER_CONFIG", "config.json", s.host},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", home)
			for _, env := range []string{"REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DOCKER_CONFIG"} {
				t.Setenv(env, "")
			}
			dir := t.TempDir()
			file := filepath.Join(dir, c.file)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf(`{"auths":{%q:{"auth":"cG90dGVyOmNsYXk="},"example.com":{"auth":"eDp5"}}}`, c.key)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv(c.env, dir)
			if c.env == "REGISTRY_AUTH_FILE" {
				t.Setenv(c.env, file)
			}
			if got := mustLoad(t, tag, options(t, trusting, func(o *Options) { o.Keychain = Keychain() })); got != "a" {
				t.Errorf("got %q", got)
			}
		})
	}
	t.Run("a file with credentials that is not there", func(t *testing.T) {
		t.Setenv("REGISTRY_AUTH_FILE", filepath.Join(home, "absent.json"))
		refused(t, tag, options(t, trusting, func(o *Options) { o.Keychain = Keychain() }), os.ErrNotExist, "REGISTRY_AUTH_FILE", "absent.json")
	})
	t.Run("wrong ones", func(t *testing.T) {
		wrong := authn.FromConfig(authn.AuthConfig{Username: "potter", Password: "mud"})
		refused(t, tag, options(t, trusting, func(o *Options) { o.Keychain = fixed{wrong} }), nil, "podman login")
	})
}

type fixed struct{ authn.Authenticator }

func (f fixed) Resolve(authn.Resource) (authn.Authenticator, error) { return f.Authenticator, nil }

func TestMirrorsAreAskedFirst(t *testing.T) {
	origin, mirror := serve(t, false), serve(t, false)
	image := imageOf(t, [][]byte{packed(t, "configs/a.json", pkg("a"))})
	tag, digest := origin.push(t, "catalogs/hub:v1", image)
	mirror.push(t, "copy/catalogs/hub:v1", image)

	for _, from := range []string{origin.host, origin.host + "/catalogs"} {
		to := mirror.host + "/copy" + strings.TrimPrefix(from, origin.host)
		m, err := ParseMirror(from + "=" + to)
		if err != nil {
			t.Fatal(err)
		}
		before := origin.requests.Load()
		for _, ref := range []string{tag, digest} {
			o := options(t, func(o *Options) { o.Mirrors = []Mirror{m} })
			c, err := load(t, ref, o)
			if err != nil {
				t.Fatal(err)
			}
			if c.Resolved != digest {
				t.Errorf("resolved to %s, want %s", c.Resolved, digest)
			}
		}
		if n := origin.requests.Load() - before; n > 0 {
			t.Errorf("%s=%s: the origin was asked %d times", from, to, n)
		}
	}
	// One that does not have it, or is not there, or is for something else: the origin is asked.
	for _, pair := range []string{origin.host + "=" + mirror.host + "/other", origin.host + "=127.0.0.1:1", origin.host + "/cata=" + mirror.host, "example.com=127.0.0.1:1"} {
		m, err := ParseMirror(pair)
		if err != nil {
			t.Fatal(err)
		}
		if got := mustLoad(t, tag, options(t, func(o *Options) { o.Mirrors = []Mirror{m} })); got != "a" {
			t.Errorf("%s: got %q", pair, got)
		}
	}
	// When nobody has it, all are named.
	m, err := ParseMirror(origin.host + "=" + mirror.host)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, origin.host+"/none:v1", options(t, func(o *Options) { o.Mirrors = []Mirror{m} }), nil, "from "+mirror.host+"/none: ", "from "+origin.host+"/none: ", "check the name")
	for _, bad := range []string{"", "a", "=b", "a=", "example.com=", "example.com/=x.example.com", "no registry=example.com"} {
		if m, err := ParseMirror(bad); err == nil {
			t.Errorf("%q: got %+v", bad, m)
		}
	}
}

func TestPlatforms(t *testing.T) {
	s := serve(t, false)
	of := func(platform string) mutate.IndexAddendum {
		p, err := v1.ParsePlatform(platform)
		if err != nil {
			t.Fatal(err)
		}
		return mutate.IndexAddendum{
			Add:        imageOf(t, [][]byte{packed(t, "configs/a.json", pkg(strings.ReplaceAll(platform, "/", "-")))}),
			Descriptor: v1.Descriptor{Platform: p, MediaType: types.OCIManifestSchema1},
		}
	}
	attestation := of("unknown/unknown")
	many, _ := s.push(t, "many:v1", mutate.AppendManifests(empty.Index, attestation, of("linux/arm64"), of("linux/amd64"), of("linux/s390x")))
	one, _ := s.push(t, "one:v1", mutate.AppendManifests(empty.Index, of("linux/ppc64le"), attestation))
	inner := mutate.AppendManifests(empty.Index, of("linux/amd64"))
	nested, _ := s.push(t, "nested:v1", mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: inner, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}}))

	for _, c := range []struct{ ref, platform, want string }{
		{many, "", "linux-amd64"}, {many, "linux/s390x", "linux-s390x"}, {one, "", "linux-ppc64le"}, {nested, "", "linux-amd64"},
	} {
		if got := mustLoad(t, c.ref, options(t, func(o *Options) { o.Platform = c.platform })); got != c.want {
			t.Errorf("%s for %q: got %q, want %q", c.ref, c.platform, got, c.want)
		}
	}
	refused(t, many, options(t, func(o *Options) { o.Platform = "linux/riscv64" }), nil, "linux/riscv64", "linux/amd64, linux/arm64, linux/s390x", "--platform")
	refused(t, one, options(t, func(o *Options) { o.Platform = "linux/amd64" }), nil, "linux/ppc64le")
	for _, bad := range []string{"linux", "a/b/c/d", "/"} {
		if _, err := New(Options{Platform: bad}); err == nil {
			t.Errorf("platform %q was taken", bad)
		}
	}
}

func TestReferencesAreWhole(t *testing.T) {
	for _, bad := range []string{"", "hub", "hub:v1", "catalogs/hub:v1", "example.com/hub", "example.com/Hub:v1", "example.com/hub:", "example.com/hub@sha256:12", "example.com/hub@md5:12", "oci://example.com/hub:v1", "example.com/../hub:v1", "example.com/hub:v1\n"} {
		refused(t, bad, options(t, func(o *Options) { o.dial = noDial(t) }), nil, "for example")
		if Check(bad) == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	for ref, want := range map[string]string{
		"example.com/hub:v1": "example.com/hub", "localhost:5000/a/b:v1": "localhost:5000/a/b", "localhost:5000/a": "localhost:5000/a",
		"example.com/a:v1@sha256:" + strings.Repeat("0", 64): "example.com/a",
	} {
		if got := repository(ref); got != want {
			t.Errorf("%s: got %s, want %s", ref, got, want)
		}
	}
}
