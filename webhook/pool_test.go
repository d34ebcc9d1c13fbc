package webhook

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPoolRunsAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool()
		const many = 50
		started, release := make(chan struct{}, many), make(chan struct{})
		for range many {
			p.run(func() {
				started <- struct{}{}
				<-release
			})
		}
		synctest.Wait()
		if len(started) != many {
			t.Errorf("%d of %d run while none has ended", len(started), many)
		}
		close(release)
		time.Sleep(2 * idleLimit) // of the bubble's clock; Test fails when a goroutine is left
	})
}

func TestAPoolUsesAnIdleGoroutineAgainAndLetsItGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool()
		id := func() string {
			got := make(chan string, 1)
			p.run(func() {
				stack := make([]byte, 64)
				stack = stack[:runtime.Stack(stack, false)]
				name, _, _ := strings.Cut(string(stack), " [")
				got <- name
			})
			synctest.Wait() // until it is idle
			return <-got
		}
		first := id()
		if again := id(); again != first {
			t.Errorf("the second ran on %s, the first on %s", again, first)
		}
		time.Sleep(2 * idleLimit)
		if later := id(); later == first {
			t.Errorf("%s still waits after the idle limit", later)
		}
		time.Sleep(2 * idleLimit)
	})
}
