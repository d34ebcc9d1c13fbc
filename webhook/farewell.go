package webhook

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// defaultFarewell bounds how long clients have to notice that they must connect elsewhere. By then an API server has
// long forgotten the replica: preStop comes before.
const defaultFarewell = 5 * time.Second

// farewell ends kept connections without a race: closing one that is idle cuts off the request that a client sends on it
// in the same instant, and an API server does not send that again. Answered with "Connection: close", the client itself
// lets go.
type farewell struct {
	next    http.Handler
	closing atomic.Bool

	mu    sync.Mutex
	open  int
	empty chan struct{} // closed when the last connection is gone while closing
}

// ServeHTTP implements http.Handler.
func (f *farewell) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.closing.Load() {
		w.Header().Set("Connection", "close")
	}
	f.next.ServeHTTP(w, r)
}

// count is for http.Server.ConnState.
func (f *farewell) count(_ net.Conn, state http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch state {
	case http.StateNew:
		f.open++
	case http.StateClosed, http.StateHijacked:
		f.open--
		f.signal()
	}
}

// signal tells say that there is nobody left. The caller holds the lock.
func (f *farewell) signal() {
	if f.closing.Load() && f.open == 0 {
		select {
		case <-f.empty:
		default:
			close(f.empty)
		}
	}
}

// say asks everybody to let go, and waits until they have, or for as long as most.
func (f *farewell) say(ctx context.Context, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	f.mu.Lock()
	f.closing.Store(true)
	f.signal()
	f.mu.Unlock()
	select {
	case <-f.empty:
	case <-ctx.Done():
	}
}
