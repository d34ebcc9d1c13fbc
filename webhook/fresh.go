package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
)

// freshListTimeout is how long the list before a denial may take, waiting for other lists included.
const freshListTimeout = 500 * time.Millisecond

// freshLists lists ClusterCatalogs from the API server. At most one list is under way at a time: who asks while one is
// under way shares the next, never the current one, since that may have begun before the catalogs that matter were
// created.
type freshLists struct {
	list    func(context.Context) ([]ocv1.ClusterCatalog, error)
	timeout time.Duration

	mu      sync.Mutex
	running bool
	next    *freshList
}

type freshList struct {
	done     chan struct{}
	catalogs []ocv1.ClusterCatalog
	err      error
}

// get is a list that began after the call did. The catalogs are shared and must not be modified.
func (f *freshLists) get(ctx context.Context) ([]ocv1.ClusterCatalog, error) {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	l := f.join()
	select {
	case <-l.done:
		return l.catalogs, l.err
	case <-ctx.Done():
		return nil, fmt.Errorf("list ClusterCatalogs from the API server: %w", ctx.Err())
	}
}

func (f *freshLists) join() *freshList {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = &freshList{done: make(chan struct{})}
	}
	if !f.running {
		f.running = true
		go f.run()
	}
	return f.next
}

// run lists until nobody waits any more.
func (f *freshLists) run() {
	for {
		f.mu.Lock()
		l := f.next
		f.next = nil
		f.running = l != nil
		f.mu.Unlock()
		if l == nil {
			return
		}
		f.fill(l)
	}
}

func (f *freshLists) fill(l *freshList) {
	defer close(l.done)
	defer func() {
		if p := recover(); p != nil {
			l.catalogs, l.err = nil, fmt.Errorf("list ClusterCatalogs from the API server: panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), f.timeout)
	defer cancel()
	if l.catalogs, l.err = f.list(ctx); l.err != nil {
		l.err = fmt.Errorf("list ClusterCatalogs from the API server: %w", l.err)
	}
}
