package webhook

import (
	"errors"
	"log/slog"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/resolver"
)

// Options are what a Handler needs.
type Options struct {
	// Cached lists ClusterCatalogs from memory: the manager's cache.
	Cached client.Reader
	// Fresh lists them from the API server, before a denial: the manager's API reader. Its client must not throttle
	// itself (rest.Config QPS -1), or a burst of denials becomes warnings.
	Fresh client.Reader
	// Content is what is at hand of a catalog's content, from memory: the method of catalog/store.
	Content func(*ocv1.ClusterCatalog) catalog.Content
	// Resolve answers; nil means resolver.Resolve.
	Resolve func(*ocv1.ClusterExtension, []resolver.Catalog, resolver.Rule) resolver.Verdict
	// Rule in force; "" means Package.
	Rule resolver.Rule
	// Mode; "" means Enforce.
	Mode Mode
	// Policy per reason; the zero value is the default policy.
	Policy Policy
	// Exempt users and groups.
	Exempt Exemptions
	// BreakGlass says which deliberate acts get past a denial.
	BreakGlass BreakGlass
	// Now is the clock that durations are measured by; nil means time.Now.
	Now func() time.Time
	// Log takes one line per denial, warning and error; nil means slog.Default().
	Log *slog.Logger
	// Metrics that are counted; nil means that nothing is.
	Metrics *Metrics
}

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Cached == nil:
		return o, errors.New("webhook options: Cached is missing: give the manager's cache")
	case o.Fresh == nil:
		return o, errors.New("webhook options: Fresh is missing: give the manager's API reader")
	case o.Content == nil:
		return o, errors.New("webhook options: Content is missing: give the catalog store's method")
	}
	if o.Resolve == nil {
		o.Resolve = resolver.Resolve
	}
	if o.Rule == "" {
		o.Rule = resolver.RulePackage
	}
	if o.Mode == "" {
		o.Mode = ModeEnforce
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Metrics == nil {
		o.Metrics = newMetrics()
	}
	return o, nil
}
