package source

import (
	"math/rand/v2"
	"time"
)

// Backoff is how waits between tries grow.
type Backoff struct {
	// First is the wait after the first failure.
	First time.Duration
	// Max is the longest wait. Each wait is twice the one before until there.
	Max time.Duration
}

// Wait is the wait after so many failures in a row, counted from 1.
func (b Backoff) Wait(failures int) time.Duration {
	d := b.First
	for i := 1; i < failures && d < b.Max; i++ {
		d *= 2
	}
	return min(d, b.Max)
}

// Jitter changes a wait so that many waiters do not come at once.
type Jitter func(time.Duration) time.Duration

// DefaultJitter makes a wait up to a fifth shorter or longer.
func DefaultJitter(d time.Duration) time.Duration {
	return d + time.Duration((rand.Float64()*0.4-0.2)*float64(d))
}
