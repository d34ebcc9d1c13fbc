package status

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/olmgate/olmgate/internal/metric"
	"github.com/olmgate/olmgate/resolver"
)

// maxSeries is for how many extensions there are series of their own: the first by name. docs/metrics.md says so.
const maxSeries = 2000

var (
	docState = metric.Doc{
		Name: "olmgate_extension_state", Type: "gauge", Labels: []string{"extension", "outcome", "reason"},
		Help:   "1 for what an extension resolves to.",
		Values: "outcome: Resolved, Failed, Undecided. reason: Resolved, a failure reason, CatalogContentUnavailable.",
	}
	docUpdate = metric.Doc{
		Name: "olmgate_extension_update_available", Type: "gauge", Labels: []string{"extension", "reason"},
		Help:   "1 when something newer than what is installed exists, 0 when not; absent when nothing can be said.",
		Values: "reason: WithinConstraints, HeldBack, UpToDate, NotInstalled.",
	}
	docHops = metric.Doc{
		Name: "olmgate_extension_hops_behind", Type: "gauge", Labels: []string{"extension"},
		Help: "How many upgrades what is installed is behind the newest of its catalog; absent when no chain of upgrades leads there or nothing can be said.",
	}
	docEvaluated = metric.Doc{
		Name: "olmgate_extension_last_evaluation_timestamp_seconds", Type: "gauge", Labels: []string{"extension"},
		Help: "When the extension was last evaluated, as a Unix time.",
	}
	docExtensions = metric.Doc{
		Name: "olmgate_extensions", Type: "gauge", Labels: []string{"outcome"},
		Help:   "Extensions by what they resolve to, those without series of their own included.",
		Values: "outcome: Resolved, Failed, Undecided.",
	}
	docUnlisted = metric.Doc{
		Name: "olmgate_extensions_unlisted", Type: "gauge",
		Help: fmt.Sprintf("Extensions without series of their own: all but the first %d by name.", maxSeries),
	}
	docPending = metric.Doc{
		Name: "olmgate_status_pending_writes", Type: "gauge",
		Help: "Extensions whose conditions wait to be written.",
	}
	docWrites = metric.Doc{
		Name: "olmgate_status_writes_total", Type: "counter", Labels: []string{"result"},
		Help:   "Writes of an extension's conditions.",
		Values: "result: success, error, gone (the extension was deleted, or the process ends).",
	}
	docEvaluation = metric.Doc{
		Name: "olmgate_status_evaluation_duration_seconds", Type: "histogram",
		Help: "How long the evaluation of one extension took.",
	}
)

// MetricDocs are all metrics of this package, in the order of docs/metrics.md. Only the replica that is the leader has
// those that are gauges.
func MetricDocs() []metric.Doc {
	return []metric.Doc{docState, docUpdate, docHops, docEvaluated, docExtensions, docUnlisted, docPending, docWrites, docEvaluation}
}

// Results of writes, as the metric labels them.
const (
	resultSuccess = "success"
	resultError   = "error"
	resultGone    = "gone"
)

// Metrics are those of the Writers of a process, of which one works at a time.
type Metrics struct {
	writes     *prometheus.CounterVec
	evaluation prometheus.Histogram
	writer     atomic.Pointer[Writer]
}

// NewMetrics creates the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := newMetrics()
	for _, c := range []prometheus.Collector{m.writes, m.evaluation, gauges{m}} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register the metrics of the status writer: %w", err)
		}
	}
	return m, nil
}

func newMetrics() *Metrics {
	m := &Metrics{
		writes: docWrites.Counter(),
		evaluation: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: docEvaluation.Name, Help: docEvaluation.Help,
			Buckets: []float64{.00001, .0001, .0005, .001, .005, .01, .05, .1, .5, 1},
		}),
	}
	for _, result := range []string{resultSuccess, resultError, resultGone} { // alerts need a zero to start from
		m.writes.WithLabelValues(result)
	}
	return m
}

func (m *Metrics) wrote(result string) { m.writes.WithLabelValues(result).Inc() }

func (m *Metrics) evaluated(took time.Duration) { m.evaluation.Observe(took.Seconds()) }

// serve has the gauges show a Writer, until stop is called for it or another takes its place.
func (m *Metrics) serve(w *Writer) { m.writer.Store(w) }

func (m *Metrics) stop(w *Writer) { m.writer.CompareAndSwap(w, nil) }

// gauges collects what the working Writer knows.
type gauges struct{ m *Metrics }

var (
	descState      = docState.Desc()
	descUpdate     = docUpdate.Desc()
	descHops       = docHops.Desc()
	descEvaluated  = docEvaluated.Desc()
	descExtensions = docExtensions.Desc()
	descUnlisted   = docUnlisted.Desc()
	descPending    = docPending.Desc()
)

// Describe implements prometheus.Collector.
func (gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descState, descUpdate, descHops, descEvaluated, descExtensions, descUnlisted, descPending} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (g gauges) Collect(ch chan<- prometheus.Metric) {
	w := g.m.writer.Load()
	if w == nil {
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	all := w.snapshot()
	counts := map[resolver.Outcome]int{resolver.OutcomeResolved: 0, resolver.OutcomeFailed: 0, resolver.OutcomeUndecided: 0}
	for i, e := range all {
		counts[e.outcome]++
		if i >= maxSeries {
			continue
		}
		gauge(descState, 1, e.name, string(e.outcome), string(e.reason))
		if e.available != resolver.UpdateUnknown {
			available := 0.0
			if e.available == resolver.UpdateAvailable {
				available = 1
			}
			gauge(descUpdate, available, e.name, string(e.update))
		}
		if e.hops != nil {
			gauge(descHops, float64(*e.hops), e.name)
		}
		gauge(descEvaluated, float64(e.at.UnixMilli())/1000, e.name)
	}
	for outcome, n := range counts {
		gauge(descExtensions, float64(n), string(outcome))
	}
	gauge(descUnlisted, float64(max(0, len(all)-maxSeries)))
	gauge(descPending, float64(w.writes.len()))
}

// named is the summary of one extension.
type named struct {
	name string
	*summary
}

// snapshot lists the extensions that have a verdict, by name.
func (w *Writer) snapshot() []named {
	w.mu.Lock()
	list := make([]named, 0, len(w.known))
	for name, st := range w.known {
		if st.last != nil {
			list = append(list, named{name, st.last})
		}
	}
	w.mu.Unlock()
	slices.SortFunc(list, func(a, b named) int { return strings.Compare(a.name, b.name) })
	return list
}
