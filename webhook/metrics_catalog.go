package webhook

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// CatalogState is what the metrics say about one ClusterCatalog.
type CatalogState struct {
	Name string
	// State is a short word: current, outdated, loading, failed or notServing.
	State string
	// Loaded is when the content at hand was loaded; zero when there is none.
	Loaded time.Time
	// Packages and Bundles are how many the content at hand holds.
	Packages, Bundles int
}

// RegisterCatalogMetrics registers gauges per catalog that ask for the states at each scrape. Catalogs that are gone
// leave no series behind.
func RegisterCatalogMetrics(registry prometheus.Registerer, states func() []CatalogState, now func() time.Time) error {
	c := catalogCollector{states: states, now: now}
	if err := registry.Register(c); err != nil {
		return fmt.Errorf("register the catalog metrics: %w", err)
	}
	return nil
}

type catalogCollector struct {
	states func() []CatalogState
	now    func() time.Time
}

var (
	descCatalogState    = docCatalogState.Desc()
	descCatalogAge      = docCatalogAge.Desc()
	descCatalogPackages = docCatalogPackages.Desc()
	descCatalogBundles  = docCatalogBundles.Desc()
)

// Describe implements prometheus.Collector.
func (catalogCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- descCatalogState
	ch <- descCatalogAge
	ch <- descCatalogPackages
	ch <- descCatalogBundles
}

// Collect implements prometheus.Collector.
func (c catalogCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, s := range c.states() {
		gauge(descCatalogState, 1, s.Name, s.State)
		if s.Loaded.IsZero() {
			continue
		}
		gauge(descCatalogAge, max(0, c.now().Sub(s.Loaded).Seconds()), s.Name)
		gauge(descCatalogPackages, float64(s.Packages), s.Name)
		gauge(descCatalogBundles, float64(s.Bundles), s.Name)
	}
}
