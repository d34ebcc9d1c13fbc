package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
)

const (
	// mostMetrics bounds the answer with a Pod's metrics, in bytes.
	mostMetrics = 4 << 20
	// stateMetric has a sample with the value 1 for the state of each catalog.
	stateMetric = "olmgate_catalog_state"
	// currentState is the state of a catalog whose content olmgate holds in the revision that it serves.
	currentState = "current"
)

// content asks the Pods which catalogs they hold: whether olmgate itself reaches and trusts catalogd shows there.
func (d *doctor) content(ctx context.Context) error {
	var asked int
	var problem error
	for i := range d.pods {
		p := &d.pods[i]
		if p.Status.Phase != corev1.PodRunning {
			continue
		}
		metrics, err := d.metrics(ctx, p)
		if err != nil {
			problem = err
			continue
		}
		asked++
		d.compareContent(p.Name, statesOf(metrics[stateMetric]))
	}
	switch {
	case asked > 0:
	case problem != nil:
		d.skip("what the Pods hold cannot be asked from here: %v", problem)
	default:
		d.skip("there is no Pod to ask")
	}
	return nil
}

func (d *doctor) compareContent(pod string, states map[string]string) {
	const next = "the log of that Pod says what it tried; docs/troubleshooting.md has the usual causes"
	var current []string
	for i := range d.catalogs {
		name := d.catalogs[i].Name
		switch state, known := states[name]; {
		case notServing(&d.catalogs[i]) != "" || d.catalogs[i].Spec.AvailabilityMode != "" && d.catalogs[i].Spec.AvailabilityMode != "Available":
		case !known:
			d.warn(next, "Pod %s does not know the catalog %s yet", pod, name)
		case state == currentState:
			current = append(current, name)
		default:
			d.fault(next, "Pod %s does not hold the present content of %s: %s", pod, name, state)
		}
	}
	if len(current) > 0 {
		d.ok("Pod %s holds the present content of %s", pod, strings.Join(current, ", "))
	}
}

// metrics of a Pod by name, asked once.
func (d *doctor) metrics(ctx context.Context, p *corev1.Pod) (map[string]*dto.MetricFamily, error) {
	if known, ok := d.scraped[p.Name]; ok {
		return known, nil
	}
	port := d.metricsPort()
	if port == 0 {
		return nil, errors.New("the Deployment names no port for metrics")
	}
	client, address := d.http, d.proxyURL(p.Name+":"+strconv.Itoa(int(port)), "metrics")
	if d.InCluster {
		client, address = http.DefaultClient, &url.URL{Scheme: "http", Host: net.JoinHostPort(p.Status.PodIP, strconv.Itoa(int(port))), Path: "/metrics"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("metrics of Pod %s: %w", p.Name, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("metrics of Pod %s: %w", p.Name, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("metrics of Pod %s: %s", p.Name, resp.Status)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(resp.Body, mostMetrics))
	if err != nil {
		return nil, fmt.Errorf("metrics of Pod %s: %w", p.Name, err)
	}
	if d.scraped == nil {
		d.scraped = map[string]map[string]*dto.MetricFamily{}
	}
	d.scraped[p.Name] = families
	return families, nil
}

// value is that of a gauge without labels.
func value(family *dto.MetricFamily) (float64, bool) {
	if len(family.GetMetric()) == 0 {
		return 0, false
	}
	return family.GetMetric()[0].GetGauge().GetValue(), true
}

// statesOf are the states of catalogs by name.
func statesOf(family *dto.MetricFamily) map[string]string {
	states := map[string]string{}
	for _, m := range family.GetMetric() {
		if m.GetGauge().GetValue() != 1 {
			continue
		}
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		states[labels["catalog"]] = labels["state"]
	}
	return states
}

func (d *doctor) metricsPort() int32 {
	ports := d.container().Ports
	if i := slices.IndexFunc(ports, func(p corev1.ContainerPort) bool { return p.Name == "metrics" }); i >= 0 {
		return ports[i].ContainerPort
	}
	return 0
}

// proxyURL is the address of a path of a Pod through the API server.
func (d *doctor) proxyURL(pod, path string) *url.URL {
	base, err := url.Parse(d.Config.Host)
	if err != nil || base.Host == "" {
		base = &url.URL{Scheme: "https", Host: d.Config.Host}
	}
	return base.JoinPath("api/v1/namespaces", d.Namespace, "pods", pod, "proxy", path)
}
