package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts have a version that does not depend on how the test is built.
func init() { version = "v0.0.0-test" }

// imageRegistry is a real registry with TLS and the user potter with the password clay. It has catalogs/hub:v1 and v2.
func imageRegistry(t *testing.T) (server *httptest.Server, connections *atomic.Int64) {
	t.Helper()
	back := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	connections = &atomic.Int64{}
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "potter" || password != "clay" {
			w.Header().Set("WWW-Authenticate", `Basic realm="kilns"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		back.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	for tag, blobs := range map[string]string{"v1": hub, "v2": strings.ReplaceAll(hub, "1.0.0", "2.0.0")} {
		pushCatalog(t, server, "catalogs/hub:"+tag, blobs)
	}
	return server, connections
}

type login struct{ http.RoundTripper }

func (l login) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.SetBasicAuth("potter", "clay")
	return l.RoundTripper.RoundTrip(r)
}

// pushCatalog puts an image with a File-Based Catalog below /configs into the registry.
func pushCatalog(t *testing.T, server *httptest.Server, path, blobs string) {
	t.Helper()
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	if err := w.WriteHeader(&tar.Header{Name: "configs/catalog.json", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(blobs))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, blobs); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	img, err := mutate.AppendLayers(empty.Image, static.NewLayer(layer.Bytes(), types.DockerLayer))
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(server.Listener.Addr().String() + "/" + path)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, img, remote.WithTransport(login{server.Client().Transport})); err != nil {
		t.Fatal(err)
	}
}

// TestImageScripts runs testdata/images with a registry at $REGISTRY, whose CA is in ca.pem and whose credentials are in
// auth.json.
func TestImageScripts(t *testing.T) {
	server, connections := imageRegistry(t)
	host := server.Listener.Addr().String()
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/images",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			for _, env := range []string{"KUBECONFIG", "NO_COLOR", "XDG_RUNTIME_DIR", "DOCKER_CONFIG", "HTTPS_PROXY", "HTTP_PROXY"} {
				e.Setenv(env, "")
			}
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("REGISTRY", host)
			e.Setenv("SOURCE_DATE_EPOCH", "1767225600")
			ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			if err := os.WriteFile(filepath.Join(e.WorkDir, "ca.pem"), ca, 0o600); err != nil {
				return err
			}
			auth := fmt.Sprintf(`{"auths":{%q:{"auth":"cG90dGVyOmNsYXk="}}}`, host)
			return os.WriteFile(filepath.Join(e.WorkDir, "auth.json"), []byte(auth), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": wantStatus,
			// fill FILE replaces @REGISTRY@ in a file.
			"fill": func(ts *testscript.TestScript, _ bool, args []string) {
				text := strings.ReplaceAll(ts.ReadFile(args[0]), "@REGISTRY@", host)
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
			},
			// silence COMMAND ARG... runs a command and wants no connection to the registry.
			"silence": func(ts *testscript.TestScript, neg bool, args []string) {
				before := connections.Load()
				wantStatus(ts, neg, args)
				if n := connections.Load() - before; n > 0 {
					ts.Fatalf("%d connections to the registry", n)
				}
			},
		},
	})
}
