package source

import (
	"context"
	"fmt"
	"time"
)

// watchdog ends a request when nothing arrives for too long. It runs only while somebody waits for bytes: the time
// that reading takes is not the server's fault.
type watchdog struct {
	after time.Duration
	timer *time.Timer
}

// newWatchdog returns a stopped one.
func newWatchdog(after time.Duration, cancel context.CancelCauseFunc) *watchdog {
	w := &watchdog{after: after}
	w.timer = time.AfterFunc(after, func() {
		cancel(fmt.Errorf("%w: nothing arrived for %s", ErrStalled, after))
	})
	w.timer.Stop()
	return w
}

func (w *watchdog) start() { w.timer.Reset(w.after) }
func (w *watchdog) stop()  { w.timer.Stop() }
