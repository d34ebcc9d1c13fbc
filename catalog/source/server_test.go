package source

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// argo is a catalog of one package.
const argo = `{"schema":"olm.package","name":"argocd-operator","defaultChannel":"alpha"}
{"schema":"olm.channel","package":"argocd-operator","name":"alpha","entries":[{"name":"argocd-operator.v0.6.0"}]}
{"schema":"olm.bundle","package":"argocd-operator","name":"argocd-operator.v0.6.0","image":"example.com/a/b@sha256:1","properties":[{"type":"olm.package","value":{"packageName":"argocd-operator","version":"0.6.0"}}]}
`

// server is a catalogd of one script.
type server struct {
	*httptest.Server
	ca string // a PEM file
}

func newServer(t *testing.T, handler http.HandlerFunc) *server {
	t.Helper()
	s := &server{Server: httptest.NewUnstartedServer(handler)}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	s.ca = filepath.Join(t.TempDir(), "ca.crt")
	write(t, s.ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	return s
}

func (s *server) host() string { return strings.TrimPrefix(s.URL, "https://") }

// options trust the server and allow its address.
func (s *server) options() HTTPOptions {
	return HTTPOptions{Hosts: []string{s.host()}, CA: []string{s.ca}}
}

// clusterCatalog is one whose content is below base.
func clusterCatalog(base string) *ocv1.ClusterCatalog {
	return &ocv1.ClusterCatalog{
		ObjectMeta: metav1.ObjectMeta{Name: "argo"},
		Status:     ocv1.ClusterCatalogStatus{URLs: &ocv1.ClusterCatalogURLs{Base: base}},
	}
}

func (s *server) catalog() *ocv1.ClusterCatalog { return clusterCatalog(s.URL + "/catalogs/argo") }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
