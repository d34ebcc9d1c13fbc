package status

import (
	"context"
	"sync"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// job is a write that waits for its turn.
type job struct {
	ext *ocv1.ClusterExtension
	desired
	// before are the conditions that they replace.
	before []metav1.Condition
	// made is when it was found that they have to be.
	made time.Time
	// bad is whether the extension ceases to resolve, which goes first.
	bad bool
	// due is when it may be written at the earliest.
	due time.Time
	// turn orders jobs by when an extension began to wait.
	turn uint64
}

// writes holds at most one job per extension: the last one counts. What turns bad goes first, then who has waited
// longest.
type writes struct {
	mu    sync.Mutex
	jobs  map[string]*job
	turns uint64
	// busy are the names that are being written: their next job waits.
	busy map[string]bool
	wake chan struct{}
}

func newWrites() *writes {
	return &writes{jobs: map[string]*job{}, busy: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// put queues a write in place of the one that waits.
func (q *writes) put(name string, j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	old := q.jobs[name]
	if old != nil {
		j.turn = old.turn
	} else {
		q.turns++
		j.turn = q.turns
	}
	q.jobs[name] = j
	q.poke()
}

// drop takes a write back that has become needless.
func (q *writes) drop(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.jobs, name)
}

func (q *writes) poke() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// len is how many writes wait.
func (q *writes) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs)
}

// next waits for a job that may be written; false when the context has ended. Done must be called for it.
func (q *writes) next(ctx context.Context) (string, *job, bool) {
	for {
		name, j, wait := q.take()
		if j != nil {
			q.poke() // others may find something too
			return name, j, true
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return "", nil, false
		case <-q.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// take is the first job that may be written now, or how long to wait for one.
func (q *writes) take() (string, *job, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, wait := time.Now(), time.Hour
	name, best := "", (*job)(nil)
	for n, j := range q.jobs {
		switch {
		case q.busy[n]: // done wakes whoever waits
		case j.due.After(now):
			wait = min(wait, j.due.Sub(now))
		case best == nil || j.goesBefore(best):
			name, best = n, j
		}
	}
	if best != nil {
		delete(q.jobs, name)
		q.busy[name] = true
	}
	return name, best, wait
}

// goesBefore orders what may be written.
func (j *job) goesBefore(o *job) bool {
	if j.bad != o.bad {
		return j.bad
	}
	return j.turn < o.turn
}

// done lets the next write of that extension go on.
func (q *writes) done(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.busy, name)
	q.poke()
}
