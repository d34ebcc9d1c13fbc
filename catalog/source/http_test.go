package source

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/olmgate/olmgate/catalog"
)

func TestFetch(t *testing.T) {
	zipped := gzipped(t, argo)
	tests := map[string]struct {
		answer  http.HandlerFunc
		options func(*HTTPOptions)
		// is the error, says a part of its text; neither when it should succeed.
		is   error
		says string
		pace Pace
	}{
		"plain content with a length": {
			answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, argo) },
		},
		"gzip when it is offered": {
			answer: func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Accept-Encoding") != "gzip" || r.URL.Path != "/catalogs/argo/api/v1/all" || r.Method != http.MethodGet {
					http.Error(w, "unexpected request", http.StatusTeapot)
					return
				}
				w.Header().Set("Content-Encoding", "gzip")
				flush(w, zipped[:20])
				_, _ = io.WriteString(w, zipped[20:])
			},
		},
		"plain content cut short of its length": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", strconv.Itoa(len(argo)))
				_, _ = io.WriteString(w, firstLines(2))
			},
			is: ErrTruncated, says: "after", pace: PaceFast,
		},
		"chunks cut short at the end of a line": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				flush(w, firstLines(2))
				panic(http.ErrAbortHandler)
			},
			is: ErrTruncated, pace: PaceFast,
		},
		"gzip chunks cut short": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				flush(w, zipped[:len(zipped)/2])
				panic(http.ErrAbortHandler)
			},
			is: ErrTruncated, pace: PaceFast,
		},
		"gzip without its trailer in a complete answer": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = io.WriteString(w, zipped[:len(zipped)-8])
			},
			is: ErrTruncated, pace: PaceFast,
		},
		"gzip of nothing at all": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				w.WriteHeader(http.StatusOK)
			},
			is: ErrTruncated, pace: PaceFast,
		},
		"an end that cannot be told from a cut": {
			answer: raw("HTTP/1.1 200 OK\r\n\r\n" + argo),
			is:     ErrRefused, says: "neither a Content-Length nor chunks", pace: PaceSlow,
		},
		"another encoding": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "br")
				_, _ = io.WriteString(w, "x")
			},
			is: ErrRefused, says: `"br"`, pace: PaceSlow,
		},
		"200 without content": {
			answer: func(http.ResponseWriter, *http.Request) {},
			is:     ErrEmpty, says: "it served no content", pace: PaceSlow,
		},
		"200 with white space": {
			answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "\n\n") },
			is:     ErrEmpty, pace: PaceSlow,
		},
		"404 as of a restarting catalogd": {
			answer: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "404 Not Found", http.StatusNotFound) },
			says:   "the answer was 404 Not Found: catalogd does not have it at the moment", pace: PaceFast,
		},
		"503 says what the server says": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "over\x00loaded\nmore", http.StatusServiceUnavailable)
			},
			says: "503 Service Unavailable (over loaded)", pace: PaceFast,
		},
		"500": {
			answer: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusInternalServerError) },
			says:   "500 Internal Server Error", pace: PaceNormal,
		},
		"400": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "invalid catalog name", http.StatusBadRequest)
			},
			says: "invalid catalog name", pace: PaceSlow,
		},
		"a redirect": {
			answer: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://evil.example/x?token=1", http.StatusFound)
			},
			is: ErrRefused, says: `a redirect to the host "evil.example"`, pace: PaceSlow,
		},
		"content that is no catalog": {
			answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{\"schema\":1}\n[]") },
			says:   "reading the content", pace: PaceSlow,
		},
		"more than the limit": {
			answer:  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, argo) },
			options: func(o *HTTPOptions) { o.Limits.TotalBytes = 100 },
			is:      catalog.ErrLimit, pace: PaceSlow,
		},
		"an answer that never begins": {
			answer:  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			options: func(o *HTTPOptions) { o.Stall = 500 * time.Millisecond },
			is:      ErrStalled, says: "nothing arrived for 500ms", pace: PaceNormal,
		},
		"content that stands still": {
			answer: func(w http.ResponseWriter, r *http.Request) {
				flush(w, firstLines(1))
				<-r.Context().Done()
			},
			options: func(o *HTTPOptions) { o.Stall = 500 * time.Millisecond },
			is:      ErrStalled, pace: PaceNormal,
		},
		"an error whose text stands still": {
			answer: func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
				flush(w, "a")
				<-r.Context().Done()
			},
			options: func(o *HTTPOptions) { o.Stall = 500 * time.Millisecond },
			says:    "500", pace: PaceNormal,
		},
		"content that trickles": {
			answer: func(w http.ResponseWriter, r *http.Request) {
				for r.Context().Err() == nil {
					flush(w, "\n")
				}
			},
			options: func(o *HTTPOptions) { o.Total = 500 * time.Millisecond },
			is:      ErrDeadline, pace: PaceNormal,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, tc.answer)
			o := s.options()
			if tc.options != nil {
				tc.options(&o)
			}
			h, err := NewHTTP(o)
			if err != nil {
				t.Fatal(err)
			}
			index, err := h.Fetch(t.Context(), s.catalog())
			if tc.is == nil && tc.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				if index.Package("argocd-operator") == nil {
					t.Fatalf("got %+v, want the package", index.Stats())
				}
				return
			}
			if err == nil {
				t.Fatalf("got content %+v, want an error", index.Stats())
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("got %v, want it to be %v", err, tc.is)
			}
			if !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want it to say %q", err, tc.says)
			}
			if !strings.Contains(err.Error(), s.URL+"/catalogs/argo/api/v1/all") {
				t.Errorf("got %v, want it to say the address", err)
			}
			if got := PaceOf(err); got != tc.pace {
				t.Errorf("%v: got pace %v, want %v", err, got, tc.pace)
			}
		})
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	begun := make(chan struct{})
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		flush(w, firstLines(1))
		close(begun)
		<-r.Context().Done()
	})
	h, err := NewHTTP(s.options())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := h.Fetch(ctx, s.catalog()); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
}

func TestFetchFromNobody(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := l.Addr().String()
	_ = l.Close()
	h, err := NewHTTP(HTTPOptions{Hosts: []string{host}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Fetch(t.Context(), clusterCatalog("https://"+host+"/catalogs/argo"))
	if PaceOf(err) != PaceFast || !strings.Contains(err.Error(), "catalogd is not running") {
		t.Errorf("got pace %v of %v, want fast", PaceOf(err), err)
	}
}

func TestFetchWithoutAnAddress(t *testing.T) {
	h, err := NewHTTP(HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cc := clusterCatalog("")
	if _, err := h.Fetch(t.Context(), cc); !errors.Is(err, ErrNoURL) {
		t.Errorf("empty base: got %v", err)
	}
	cc.Status.URLs = nil
	if _, err := h.Fetch(t.Context(), cc); !errors.Is(err, ErrNoURL) {
		t.Errorf("no urls: got %v", err)
	}
}

func TestFetchCallsNobodyElse(t *testing.T) {
	called := false
	s := newServer(t, func(http.ResponseWriter, *http.Request) { called = true })
	o := s.options()
	o.Hosts = []string{"catalogd.example"}
	h, err := NewHTTP(o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Fetch(t.Context(), s.catalog())
	if !errors.Is(err, ErrRefused) || called {
		t.Errorf("got %v, called %v: want the forged address refused", err, called)
	}
}

func TestNoProxyUnlessGiven(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, argo) })
	h, err := NewHTTP(s.options())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Fetch(t.Context(), s.catalog()); err != nil {
		t.Fatal(err)
	}
}

func flush(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

// raw answers with bytes as they are and hangs up.
func raw(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, answer)
		_ = conn.Close()
	}
}

// firstLines of argo are a smaller catalog that is well-formed.
func firstLines(n int) string {
	return strings.Join(strings.SplitAfter(argo, "\n")[:n], "")
}
