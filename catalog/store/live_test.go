package store

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/source"
)

// fetchFunc answers at once.
type fetchFunc func(*ocv1.ClusterCatalog) answer

func (f fetchFunc) Fetch(_ context.Context, cc *ocv1.ClusterCatalog) (*catalog.Index, error) {
	a := f(cc)
	return a.index, a.err
}

// await polls until there is no error any more.
func await(t *testing.T, check func() error) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// TestWithARealServer goes through what a restarting catalogd does: no content yet, a download that is cut, one that
// stands still, and then all of it.
func TestWithARealServer(t *testing.T) {
	const content = `{"schema":"olm.package","name":"first"}` + "\n"
	var requests atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch requests.Add(1) {
		case 1:
			http.NotFound(w, r)
		case 2:
			_, _ = io.WriteString(w, content)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case 3:
			_, _ = io.WriteString(w, content)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			_, _ = io.WriteString(w, content)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := source.NewHTTP(source.HTTPOptions{
		Hosts: []string{strings.TrimPrefix(server.URL, "https://")}, CA: []string{ca}, Stall: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster()
	s := New(Options{Fetcher: h, Latest: c.latest, Jitter: func(d time.Duration) time.Duration { return min(d, time.Millisecond) }})
	defer s.Close()
	cc := c.set("a", serves(one), func(cc *ocv1.ClusterCatalog) { cc.Status.URLs.Base = server.URL + "/catalogs/a" })
	s.observe(cc)
	await(t, func() error {
		got := s.Content(cc)
		if got.Index == nil {
			return errors.New(got.Problem)
		}
		if got.Index.Package("first") == nil {
			return fmt.Errorf("got %+v", got)
		}
		return nil
	})
	if n := requests.Load(); n != 4 {
		t.Errorf("got %d requests, want 4", n)
	}
}
