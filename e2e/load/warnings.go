package load

import (
	"context"
	"sync"
)

// warnings of one request.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

type warningsKey struct{}

// collect returns a context for one request, and what it was warned of.
func collect(ctx context.Context) (context.Context, func() []string) {
	w := &warnings{}
	return context.WithValue(ctx, warningsKey{}, w), func() []string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.texts
	}
}

// collector hands each warning to the request that it answers.
type collector struct{}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (collector) HandleWarningHeaderWithContext(ctx context.Context, _ int, _, text string) {
	if w, ok := ctx.Value(warningsKey{}).(*warnings); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.texts = append(w.texts, text)
	}
}
