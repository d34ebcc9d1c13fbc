package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
)

// Retrying tries another Fetcher several times. It is for commands that end; a catalog/store waits by itself.
type Retrying struct {
	// Fetcher is the one that is tried.
	Fetcher Fetcher
	// Tries is the number of tries in all. Default 4.
	Tries int
	// Backoff is the wait between tries. Default 250 ms doubling to 5 s.
	Backoff Backoff
	// Jitter of the waits. Default DefaultJitter.
	Jitter Jitter
}

// Fetch tries until it succeeds, fails for a reason that does not pass by itself (PaceSlow), ctx ends, or the tries are
// used up. The error is that of the last try.
func (r Retrying) Fetch(ctx context.Context, cc *ocv1.ClusterCatalog) (*catalog.Index, error) {
	tries, wait, jitter := r.Tries, r.Backoff, r.Jitter
	if tries <= 0 {
		tries = 4
	}
	if wait == (Backoff{}) {
		wait = Backoff{First: 250 * time.Millisecond, Max: 5 * time.Second}
	}
	if jitter == nil {
		jitter = DefaultJitter
	}
	for n := 1; ; n++ {
		index, err := r.Fetcher.Fetch(ctx, cc)
		if err == nil || PaceOf(err) == PaceSlow || ctx.Err() != nil {
			return index, err
		}
		if errors.Is(err, ErrNoURL) {
			return nil, err
		}
		if n >= tries {
			return nil, fmt.Errorf("after %d tries: %w", n, err)
		}
		timer := time.NewTimer(jitter(wait.Wait(n)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		case <-timer.C:
		}
	}
}
