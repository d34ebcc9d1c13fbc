package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// progress tells on a terminal how far a check is, once it takes longer than a second.
type progress struct {
	to    *os.File
	start time.Time
	last  atomic.Int64
	shown atomic.Bool
}

func newProgress(s streams) *progress {
	p := &progress{start: time.Now()}
	if f, ok := s.err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.to = f
	}
	return p
}

func (p *progress) tick(done, of int) {
	if p.to == nil {
		return
	}
	passed := time.Since(p.start)
	last := p.last.Load()
	if passed < time.Second || int64(passed/time.Millisecond)-last < 200 || !p.last.CompareAndSwap(last, int64(passed/time.Millisecond)) {
		return
	}
	p.shown.Store(true)
	fmt.Fprintf(p.to, "\r\x1b[Kchecked %d of %d files", done, of)
}

// done takes the line away.
func (p *progress) done() {
	if p.shown.Load() {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
