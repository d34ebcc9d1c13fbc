package webhook

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the counters of the handler.
type Metrics struct {
	duration  prometheus.Histogram
	reviews   *prometheus.CounterVec
	notes     *prometheus.CounterVec
	bypasses  *prometheus.CounterVec
	errors    *prometheus.CounterVec
	freshList *prometheus.HistogramVec
}

// NewMetrics creates the handler's metrics and registers them.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := newMetrics()
	for _, c := range []prometheus.Collector{m.duration, m.reviews, m.notes, m.bypasses, m.errors, m.freshList} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register the admission metrics: %w", err)
		}
	}
	return m, nil
}

func newMetrics() *Metrics {
	m := &Metrics{
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: docDuration.Name, Help: docDuration.Help,
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		reviews:  docReviews.Counter(),
		notes:    docNotes.Counter(),
		bypasses: docBypasses.Counter(),
		errors:   docErrors.Counter(),
		freshList: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: docFreshList.Name, Help: docFreshList.Help,
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5},
		}, docFreshList.Labels),
	}
	// Alerts on these need a zero to start from.
	for _, kind := range []string{errorPanic, errorDeadline, errorKind, errorDecode, errorList, errorReview} {
		m.errors.WithLabelValues(kind)
	}
	for _, by := range []string{bypassBreakGlass, bypassUser, bypassGroup, bypassAnnotation} {
		m.bypasses.WithLabelValues(by)
	}
	return m
}

func (m *Metrics) observeAnswer(a answer, took time.Duration) {
	m.duration.Observe(took.Seconds())
	m.reviews.WithLabelValues(a.outcome, string(a.reason()), a.label()).Inc()
	if a.verdict != nil {
		for _, n := range a.verdict.Notes {
			m.notes.WithLabelValues(string(n.Reason)).Inc()
		}
	}
	if a.bypass != "" {
		m.bypasses.WithLabelValues(a.bypass).Inc()
	}
	if a.err != nil {
		m.errors.WithLabelValues(a.errorKind).Inc()
	}
}

func (m *Metrics) observeFreshList(err error, took time.Duration) {
	result := "success"
	if err != nil {
		result = "error"
	}
	m.freshList.WithLabelValues(result).Observe(took.Seconds())
}
