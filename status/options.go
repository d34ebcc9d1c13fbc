package status

import (
	"errors"
	"log/slog"
	"runtime"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/store"
	"github.com/olmgate/olmgate/resolver"
)

// Contents is what is at hand of the catalogs' content; a store.Store is one.
type Contents interface {
	// Content is what is at hand of one catalog.
	Content(cc *ocv1.ClusterCatalog) catalog.Content
	// State says how it stands with it.
	State(name string) (store.State, bool)
	// Watch has changes of either told.
	Watch(changed func(name string)) (stop func())
	// Settled is closed once every catalog was loaded or has failed once.
	Settled() <-chan struct{}
}

// Options of a Writer. Only Contents is required.
type Options struct {
	Contents Contents
	// Rule in force. Default Package.
	Rule resolver.Rule
	// Profile is which conditions are written. Default ProfileOwn.
	Profile Profile
	// WritesPerSecond paces writes. Default 20.
	WritesPerSecond float64
	// Grace is how long what passes by itself is not written about: content that is being loaded for the first time
	// or anew, and an installed state that operator-controller has unset. Default 15 s.
	Grace time.Duration
	// SettleLimit is how long the first evaluation waits for the catalogs. Default 30 s.
	SettleLimit time.Duration
	// Workers evaluate at a time. Default the number of CPUs.
	Workers int
	// Metrics that are counted; nil means that nothing is.
	Metrics *Metrics
	// Log takes one line per write and per failure; nil means slog.Default().
	Log *slog.Logger
}

// DefaultWritesPerSecond is a pace that a busy operator-controller, which reconciles after each write, keeps up with.
const DefaultWritesPerSecond = 20

func (o Options) withDefaults() (Options, error) {
	if o.Contents == nil {
		return o, errors.New("status writer options: Contents is missing: give the catalog store")
	}
	if o.WritesPerSecond < 0 {
		return o, errors.New("status writer options: WritesPerSecond is negative")
	}
	if o.Rule == "" {
		o.Rule = resolver.RulePackage
	}
	if o.Profile == "" {
		o.Profile = ProfileOwn
	}
	if o.WritesPerSecond == 0 {
		o.WritesPerSecond = DefaultWritesPerSecond
	}
	if o.Grace == 0 {
		o.Grace = 15 * time.Second
	}
	if o.SettleLimit == 0 {
		o.SettleLimit = 30 * time.Second
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Metrics == nil {
		o.Metrics = newMetrics()
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o, nil
}
