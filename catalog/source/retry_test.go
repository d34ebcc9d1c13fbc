package source

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
)

type fetchFunc func(context.Context, *ocv1.ClusterCatalog) (*catalog.Index, error)

func (f fetchFunc) Fetch(ctx context.Context, cc *ocv1.ClusterCatalog) (*catalog.Index, error) {
	return f(ctx, cc)
}

func TestRetrying(t *testing.T) {
	notFound := &StatusError{Code: http.StatusNotFound}
	tests := map[string]struct {
		errs  []error // of one try after the other; then success
		tries int
		waits time.Duration
		says  string
	}{
		"success at once":                       {tries: 1},
		"404, then 200":                         {errs: []error{notFound}, tries: 2, waits: 250 * time.Millisecond},
		"404 twice, then 200":                   {errs: []error{notFound, notFound}, tries: 3, waits: 750 * time.Millisecond},
		"404 all along":                         {errs: []error{notFound, notFound, notFound, notFound}, tries: 4, waits: 1750 * time.Millisecond, says: "after 4 tries"},
		"what does not pass is not tried again": {errs: []error{ErrEmpty}, tries: 1, says: "served no content"},
		"nor is what is not there":              {errs: []error{ErrNoURL}, tries: 1, says: "no urls.base"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries, begun := 0, time.Now()
				r := Retrying{
					Jitter: func(d time.Duration) time.Duration { return d },
					Fetcher: fetchFunc(func(context.Context, *ocv1.ClusterCatalog) (*catalog.Index, error) {
						if tries++; tries <= len(tc.errs) {
							return nil, tc.errs[tries-1]
						}
						return &catalog.Index{}, nil
					}),
				}
				_, err := r.Fetch(t.Context(), clusterCatalog(""))
				if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
					t.Errorf("got %v, want %q", err, tc.says)
				}
				if tries != tc.tries || time.Since(begun) != tc.waits {
					t.Errorf("got %d tries in %v, want %d in %v", tries, time.Since(begun), tc.tries, tc.waits)
				}
			})
		})
	}
}

func TestRetryingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		r := Retrying{Fetcher: fetchFunc(func(context.Context, *ocv1.ClusterCatalog) (*catalog.Index, error) {
			return nil, io.EOF
		})}
		begun := time.Now()
		if _, err := r.Fetch(ctx, clusterCatalog("")); !errors.Is(err, io.EOF) || time.Since(begun) != 100*time.Millisecond {
			t.Errorf("got %v after %v", err, time.Since(begun))
		}
	})
}

func TestBackoff(t *testing.T) {
	b := Backoff{First: time.Second, Max: 5 * time.Minute}
	for failures, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 9: 256 * time.Second, 10: 5 * time.Minute, 1 << 30: 5 * time.Minute} {
		if got := b.Wait(failures); got != want {
			t.Errorf("after %d failures: got %v, want %v", failures, got, want)
		}
	}
	for range 1000 {
		if d := DefaultJitter(10 * time.Second); d < 8*time.Second || d > 12*time.Second {
			t.Fatalf("jitter made %v of 10 s", d)
		}
	}
}
