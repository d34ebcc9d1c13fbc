package check

import "sync/atomic"

// counter tells how many are done after each.
func counter(tell func(done, of int), of int) func() {
	var done atomic.Int64
	return func() { tell(int(done.Add(1)), of) }
}
