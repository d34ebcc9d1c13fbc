// Package metric describes metrics in one place, for their registration and for their documentation.
package metric

import "github.com/prometheus/client_golang/prometheus"

// Doc documents a metric; docs/metrics.md has a row for each.
type Doc struct {
	Name   string
	Type   string
	Labels []string
	Help   string
	// Values says what the labels can be.
	Values string
}

// Desc describes a metric that a collector makes at each scrape.
func (d Doc) Desc() *prometheus.Desc { return prometheus.NewDesc(d.Name, d.Help, d.Labels, nil) }

// Counter is a counter with the documented labels.
func (d Doc) Counter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
}
