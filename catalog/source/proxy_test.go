package source

import (
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

func TestServiceProxy(t *testing.T) {
	const want = "/prefix/api/v1/namespaces/olmv1-system/services/https:catalogd-service:443/proxy/catalogs/argo/api/v1/all"
	tests := map[string]struct {
		base   string
		code   int
		answer string
		is     error
		says   string
		pace   Pace
	}{
		"content": {code: 200, answer: argo},
		"forbidden": {
			code: 403, answer: `{"kind":"Status","message":"services \"https:catalogd-service:443\" is forbidden"}`,
			says: `is forbidden): let the user get services/proxy in catalogd's namespace, or reach it by kubectl port-forward`, pace: PaceSlow,
		},
		"no endpoints":  {code: 503, answer: "no endpoints", says: "the API server does not reach catalogd", pace: PaceFast},
		"unpacking":     {code: 404, answer: "404 Not Found", says: "catalogd has no content of it at the moment", pace: PaceFast},
		"a forged host": {base: "https://kubernetes.default.svc/catalogs/argo", is: ErrRefused, says: "not one of the allowed", pace: PaceSlow},
		"a host that is no Service": {base: "https://catalogd.test/catalogs/argo", is: ErrRefused,
			says: "is not SERVICE.NAMESPACE.svc", pace: PaceSlow},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != want || r.Header.Get("Authorization") != "Bearer secret" {
					t.Errorf("got %s with %q, want %s", r.URL.Path, r.Header.Get("Authorization"), want)
				}
				w.WriteHeader(tc.code)
				_, _ = io.WriteString(w, tc.answer)
			})
			h, err := NewServiceProxy(&rest.Config{
				Host: s.URL + "/prefix", BearerToken: "secret",
				TLSClientConfig: rest.TLSClientConfig{CAData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})},
			}, HTTPOptions{Hosts: append([]string{"catalogd.test"}, DefaultHosts...)})
			if err != nil {
				t.Fatal(err)
			}
			base := tc.base
			if base == "" {
				base = "https://catalogd-service.olmv1-system.svc/catalogs/argo"
			}
			_, err = h.Fetch(t.Context(), clusterCatalog(base))
			if tc.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.says) || tc.is != nil && !errors.Is(err, tc.is) || PaceOf(err) != tc.pace {
				t.Errorf("got pace %v of %v, want pace %v and %q", PaceOf(err), err, tc.pace, tc.says)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error holds the token: %v", err)
			}
		})
	}
}

func TestBase(t *testing.T) {
	var path string
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.Path
		_, _ = io.WriteString(w, argo)
	})
	h, err := NewBase(s.URL+"/forward/", HTTPOptions{CA: []string{s.ca}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Fetch(t.Context(), clusterCatalog("https://catalogd.anywhere.svc/catalogs/argo")); err != nil {
		t.Fatal(err)
	}
	if want := "/forward/catalogs/argo/api/v1/all"; path != want {
		t.Errorf("got %s, want %s", path, want)
	}
	if _, err := h.Fetch(t.Context(), clusterCatalog("https://catalogd.anywhere.svc/../argo")); !errors.Is(err, ErrRefused) {
		t.Errorf("a path that goes up: got %v", err)
	}
	if _, err := NewBase("http://localhost:8080", HTTPOptions{}); err == nil {
		t.Error("plain http was taken")
	}
}

func TestPick(t *testing.T) {
	config := &rest.Config{Host: "https://127.0.0.1:6443"}
	tests := map[string]struct {
		options Options
		way     string
	}{
		"a URL by hand comes first":    {Options{URL: "https://localhost:8443", InCluster: true, Config: config}, "from catalogd at the given URL"},
		"the Service in the cluster":   {Options{InCluster: true, Config: config}, "from catalogd"},
		"the service proxy outside":    {Options{Config: config}, "through the API server's service proxy"},
		"no way at all is an error":    {Options{}, ""},
		"so is a URL that is not good": {Options{URL: "localhost:8443", Config: config}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h, err := Pick(tc.options)
			if tc.way == "" {
				if err == nil {
					t.Errorf("got %q, want an error", h.Way())
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if h.Way() != tc.way {
				t.Errorf("got %q, want %q", h.Way(), tc.way)
			}
		})
	}
}
