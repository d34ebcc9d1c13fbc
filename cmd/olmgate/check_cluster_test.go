package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wholeKiln is an extension that the API server takes.
const wholeKiln = `apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: kiln}
spec:
  namespace: kilns
  source:
    sourceType: Catalog
    catalog: {packageName: kiln-operator}
`

// withInstalled is the API server of the other tests, which lists an extension that is installed too.
func withInstalled(t *testing.T, installed ocv1.ClusterExtension) string {
	to, err := url.Parse(apiServer(t))
	if err != nil {
		t.Fatal(err)
	}
	others := httputil.NewSingleHostReverseProxy(to)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/v1/clusterextensions") {
			answerJSON(w, http.StatusOK, ocv1.ClusterExtensionList{
				TypeMeta: metav1.TypeMeta{APIVersion: ocv1.GroupVersion.String(), Kind: "ClusterExtensionList"}, Items: []ocv1.ClusterExtension{installed},
			})
			return
		}
		others.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestCheckAgainstACluster(t *testing.T) {
	installed := ocv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "kiln"}}
	installed.Status.Install = &ocv1.ClusterExtensionInstallStatus{Bundle: ocv1.BundleMetadata{Name: "kiln-operator.v9.0.0", Version: "9.0.0"}}
	server := "--server=" + withInstalled(t, installed)
	file := put(t, "kiln.yaml", wholeKiln)

	// The catalogs are those of the cluster.
	if got := olmgate(t, nil, "check", file, server); got.code != exitOK || got.err != "" {
		t.Errorf("got %+v", got)
	}
	// What is installed there counts only when it is asked for.
	got := olmgate(t, nil, "check", file, server, "--installed", "cluster")
	if got.code != exitFailed || !strings.Contains(got.out, "  error  NoUpgradePath  ClusterExtension/kiln") || !strings.Contains(got.out, "9.0.0") {
		t.Errorf("got %+v", got)
	}
	// A manifest of the inputs says how a catalog of the cluster is ranked, and one that is not there has no content.
	more := put(t, "catalogs.yaml", "apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\nmetadata: {name: hub}\nspec: {priority: 77, source: {type: Image, image: {ref: \"example.com/hub:1\"}}}\n")
	if got := olmgate(t, nil, "check", file, more, server, "-o", "json"); got.code != exitOK || !strings.Contains(got.out, `"priority": 77`) {
		t.Errorf("got %+v", got)
	}
	if got := olmgate(t, nil, "check", file, "--server=http://127.0.0.1:1"); got.code != exitUsage || !strings.Contains(got.err, "listing the ClusterCatalogs") {
		t.Errorf("got %+v", got)
	}
}

// told is a writer that others can wait for.
type told struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
}

func (w *told) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
	return w.text.Write(p)
}

// until waits for a text.
func (w *told) until(t *testing.T, text string) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		w.mu.Lock()
		now := w.text.String()
		w.mu.Unlock()
		if strings.Contains(now, text) {
			return
		}
		select {
		case <-w.news:
		case <-timeout:
			t.Fatalf("%q was not said in\n%s", text, now)
		}
	}
}

func TestCheckWatches(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "kiln.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(wholeKiln)
	catalog := put(t, "hub.jsonl", hub)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &told{news: make(chan struct{}, 1)}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"check", dir, "--catalog", "hub=" + catalog, "--watch"}, streams{in: strings.NewReader(""), out: out, err: out})
	}()
	out.until(t, "1 resolved, 0 failed")
	write(strings.Replace(wholeKiln, "kiln-operator", "kiln-operater", 1))
	out.until(t, "Did you mean kiln-operator?")
	write("apiVersion: [ClusterExtension\n")
	out.until(t, "this is not YAML")
	if err := os.WriteFile(filepath.Join(dir, "second.yaml"), []byte(wholeKiln), 0o600); err != nil {
		t.Fatal(err)
	}
	write(wholeKiln)
	out.until(t, "2 resolved, 0 failed")
	cancel()
	if code := <-ended; code != exitOK {
		t.Errorf("exit status %d", code)
	}
}
