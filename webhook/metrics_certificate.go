package webhook

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// CertificateState is what the metrics say about the serving certificate.
type CertificateState struct {
	// NotAfter is the end of its life; zero when there is none.
	NotAfter time.Time
	// Trusted is whether every webhook's caBundle trusts it; it means nothing unless TrustKnown.
	Trusted, TrustKnown bool
	// Rotations is how often it was replaced, Changes how often by one of another authority.
	Rotations, Changes int
}

// RegisterCertificateMetrics registers metrics that ask for the state at each scrape.
func RegisterCertificateMetrics(registry prometheus.Registerer, state func() CertificateState) error {
	if err := registry.Register(certificateCollector(state)); err != nil {
		return fmt.Errorf("register the certificate metrics: %w", err)
	}
	return nil
}

type certificateCollector func() CertificateState

var (
	descCertificateNotAfter  = docCertificateNotAfter.Desc()
	descCertificateTrusted   = docCertificateTrusted.Desc()
	descCertificateRotations = docCertificateRotations.Desc()
)

// Describe implements prometheus.Collector.
func (certificateCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- descCertificateNotAfter
	ch <- descCertificateTrusted
	ch <- descCertificateRotations
}

// Collect implements prometheus.Collector.
func (c certificateCollector) Collect(ch chan<- prometheus.Metric) {
	s := c()
	metric := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	metric(descCertificateRotations, prometheus.CounterValue, float64(s.Rotations-s.Changes), "same")
	metric(descCertificateRotations, prometheus.CounterValue, float64(s.Changes), "other")
	if !s.NotAfter.IsZero() {
		metric(descCertificateNotAfter, prometheus.GaugeValue, float64(s.NotAfter.Unix()))
	}
	if s.TrustKnown {
		trusted := 0.0
		if s.Trusted {
			trusted = 1
		}
		metric(descCertificateTrusted, prometheus.GaugeValue, trusted)
	}
}
