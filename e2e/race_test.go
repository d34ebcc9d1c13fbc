package e2e_test

import (
	"sync"
	"testing"
)

const (
	// rounds of a race. One in everyTenth goes through kubectl, the others through the client that kubectl has, since
	// starting a process takes longer than everything else.
	rounds     = 200
	everyTenth = 10
	// racers run rounds side by side.
	racers = 4
)

// tally counts how the rounds of a race ended.
type tally struct {
	mu                             sync.Mutex
	quiet, warned, denied, kubectl int
	wrong                          []string
}

func (y *tally) count(byKubectl bool, warnings []string, denial error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if byKubectl {
		y.kubectl++
	}
	switch {
	case denial != nil:
		y.denied++
		y.wrong = append(y.wrong, denial.Error())
	case len(warnings) > 0:
		y.warned++
	default:
		y.quiet++
	}
}

func (y *tally) fault(err error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.wrong = append(y.wrong, err.Error())
}

func (y *tally) report(t *testing.T) {
	t.Helper()
	t.Logf("%d rounds, %d of them by kubectl: %d admitted, %d admitted with a warning, %d denied",
		y.quiet+y.warned+y.denied, y.kubectl, y.quiet, y.warned, y.denied)
	if got := y.quiet + y.warned + y.denied; got != rounds {
		t.Errorf("%d rounds, want %d", got, rounds)
	}
	for _, wrong := range y.wrong {
		t.Error(wrong)
	}
}

// race runs the rounds, each racer one after the other.
func race(round func(racer, i int)) {
	var done sync.WaitGroup
	for racer := range racers {
		done.Go(func() {
			for i := range rounds / racers {
				round(racer, i)
			}
		})
	}
	done.Wait()
}
