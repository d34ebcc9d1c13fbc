package load

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var extensions = schema.GroupVersionResource{
	Group: "olm.operatorframework.io", Version: "v1", Resource: "clusterextensions",
}

// Load is requests that go on until Stop.
type Load struct {
	options Options
	client  dynamic.ResourceInterface
	stop    context.CancelFunc
	done    sync.WaitGroup
	tally   *tally
}

// Start begins to send requests with the identity of the configuration. They go on
// until Stop, or until the context ends.
func Start(ctx context.Context, config *rest.Config, options Options) (*Load, error) {
	if err := options.setDefaults(); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // the rate is kept here
	config.WarningHandler, config.WarningHandlerWithContext = nil, collector{}
	config.Timeout = options.Timeout
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client to send requests with: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	l := &Load{options: options, client: client.Resource(extensions), stop: stop, tally: newTally()}
	next := make(chan Case)
	l.done.Go(func() { l.pace(ctx, next) })
	for range options.Workers {
		l.done.Go(func() { l.work(next) })
	}
	return l, nil
}

// pace hands out the cases in turn at the rate that was asked for.
func (l *Load) pace(ctx context.Context, next chan<- Case) {
	defer close(next)
	ticker := time.NewTicker(time.Second / time.Duration(l.options.Rate))
	defer ticker.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		select {
		case <-ctx.Done():
			return
		case next <- l.options.Cases[i%len(l.options.Cases)]:
		}
	}
}

// work sends what it is handed. A request under way is finished even when the load
// ends: cut short it would count as failed.
func (l *Load) work(next <-chan Case) {
	for c := range next {
		start := time.Now()
		ctx, warned := collect(context.Background())
		_, err := l.client.Create(ctx, c.Object.DeepCopy(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		l.tally.add(judge(c, err, warned()), time.Since(start))
	}
}

// Pass returns once so many more requests were answered than at its call.
func (l *Load) Pass(ctx context.Context, requests int) error {
	if err := l.tally.wait(ctx, requests); err != nil {
		return fmt.Errorf("waiting for %d more answers: %w (until now: %s)", requests, err, l.tally.result())
	}
	return nil
}

// Result is what happened until now.
func (l *Load) Result() Result { return l.tally.result() }

// Stop ends the load, waits for the requests under way, and says what happened.
// Calling it again returns the same.
func (l *Load) Stop() Result {
	l.stop()
	l.done.Wait()
	return l.tally.result()
}
