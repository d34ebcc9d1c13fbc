package webhook

import "time"

// idleLimit is how long a goroutine of a pool waits for more to do.
const idleLimit = time.Second

// pool runs functions on goroutines that it keeps for a while. A goroutine of its own for every review would have its
// stack grown anew each time, which takes longer than the judgement.
type pool struct{ tasks chan func() }

func newPool() *pool { return &pool{tasks: make(chan func())} }

// run has f run by a goroutine that is idle, or by a new one. It does not wait. f must not panic.
func (p *pool) run(f func()) {
	select {
	case p.tasks <- f:
	default:
		go p.work(f)
	}
}

func (p *pool) work(f func()) {
	idle := time.NewTimer(idleLimit)
	defer idle.Stop()
	for {
		f()
		idle.Reset(idleLimit)
		select {
		case f = <-p.tasks:
		case <-idle.C:
			return
		}
	}
}
