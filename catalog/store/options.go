package store

import (
	"context"

	"github.com/go-logr/logr"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/source"
)

// Fetcher brings the content of a catalog; source.HTTP does.
type Fetcher = source.Fetcher

// Options of a Store. Only Fetcher is required.
type Options struct {
	// Fetcher tries once to bring the content of a catalog; the Store decides when to try again.
	Fetcher Fetcher
	// Latest reads a ClusterCatalog as it is now. It is asked after each download, since the content that arrived may
	// be of another revision than the status named before. Default: the API server, uncached, once SetupWithManager
	// was called; before that, nothing is asked.
	Latest func(ctx context.Context, name string) (*ocv1.ClusterCatalog, error)
	// Concurrency is the number of downloads at a time. Each needs about as much memory as its index, and one that
	// stalls blocks its place for as long as the Fetcher lets it. Default 2.
	Concurrency int
	// CacheDir is a directory for indexes, so that a restart needs no download. "" for none. It must belong to one
	// process alone.
	CacheDir string
	// Limits of what is read from CacheDir.
	Limits catalog.Limits
	// Jitter of the waits between tries. Default source.DefaultJitter.
	Jitter source.Jitter
	// Log takes one line per load and per failure. The zero Logger discards.
	Log logr.Logger
}

func (o Options) withDefaults() Options {
	if o.Concurrency <= 0 {
		o.Concurrency = 2
	}
	if o.Jitter == nil {
		o.Jitter = source.DefaultJitter
	}
	return o
}
