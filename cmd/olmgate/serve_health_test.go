package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestReadinessSaysWhatIsMissing(t *testing.T) {
	var missing error
	mux := healthMux([]check{{"certificate", func() error { return missing }}, {"server", func() error { return nil }}})
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	if code, text := get("/readyz"); code != http.StatusOK || text != "[+]certificate: ok\n[+]server: ok\n" {
		t.Errorf("%d %q", code, text)
	}
	missing = errors.New("there is none\nyet")
	if code, text := get("/readyz"); code != http.StatusServiceUnavailable || text != "[-]certificate: there is none yet\n[+]server: ok\n" {
		t.Errorf("%d %q", code, text)
	}
	if code, text := get("/healthz"); code != http.StatusOK || text != "ok\n" {
		t.Errorf("%d %q", code, text)
	}
}
