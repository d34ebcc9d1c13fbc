package load

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// keptFailures is how many messages a result keeps.
const keptFailures = 10

// Result is what happened to the requests of a load.
type Result struct {
	// Requests that were sent and have ended, in whatever way.
	Requests int
	// Failed are those that got no answer to their question: the connection broke,
	// time ran out, or the API server could not call the webhook.
	Failed int
	// Wrong are those that were answered against the expectation of their case.
	Wrong int
	// FirstFailures are messages about the first failed or wrong requests.
	FirstFailures []string
	// Slowest is how long the slowest request took.
	Slowest time.Duration
}

// String is the line that a report closes with.
func (r Result) String() string {
	return fmt.Sprintf("requests=%d failed=%d wrong=%d", r.Requests, r.Failed, r.Wrong)
}

// Add sums results of loads that ran one after the other.
func (r Result) Add(other Result) Result {
	messages := append(append([]string{}, r.FirstFailures...), other.FirstFailures...)
	return Result{
		Requests:      r.Requests + other.Requests,
		Failed:        r.Failed + other.Failed,
		Wrong:         r.Wrong + other.Wrong,
		FirstFailures: messages[:min(len(messages), keptFailures)],
		Slowest:       max(r.Slowest, other.Slowest),
	}
}

// tally counts, and wakes those who wait for a count.
type tally struct {
	mu      sync.Mutex
	sum     Result
	changed chan struct{} // closed and replaced with each answer
}

func newTally() *tally { return &tally{changed: make(chan struct{})} }

func (t *tally) add(v verdict, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.Requests++
	if v.failed {
		t.sum.Failed++
	}
	if v.wrong {
		t.sum.Wrong++
	}
	if v.message != "" && len(t.sum.FirstFailures) < keptFailures {
		t.sum.FirstFailures = append(t.sum.FirstFailures, v.message)
	}
	t.sum.Slowest = max(t.sum.Slowest, took)
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *tally) result() Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	result := t.sum
	result.FirstFailures = append([]string{}, t.sum.FirstFailures...)
	return result
}

// wait returns once so many more answers were counted.
func (t *tally) wait(ctx context.Context, more int) error {
	t.mu.Lock()
	until := t.sum.Requests + more
	t.mu.Unlock()
	for {
		t.mu.Lock()
		reached, changed := t.sum.Requests >= until, t.changed
		t.mu.Unlock()
		if reached {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
