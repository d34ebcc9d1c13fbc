package webhook

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestTheMetricsAreDocumented compares the table of docs/metrics.md with what is registered.
func TestTheMetricsAreDocumented(t *testing.T) {
	var rows strings.Builder
	for _, d := range MetricDocs() {
		labels := "none"
		if len(d.Labels) > 0 {
			labels = "`" + strings.Join(d.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", d.Name, d.Type, labels, strings.TrimSpace(d.Help+" "+d.Values))
	}
	const file, begin, end = "../docs/metrics.md", "<!-- metrics: begin -->\n", "<!-- metrics: end -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	table, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no table of metrics", file)
	}
	want := "| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n" + rows.String()
	if diff := cmp.Diff(want, table); diff != "" {
		if *update {
			if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("run with -update: %s", diff)
	}
}

func TestEveryMetricIsRegistered(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_000, 0)
	states := []CatalogState{{Name: "hub", State: "current", Loaded: now.Add(-90 * time.Second), Packages: 3, Bundles: 7}, {Name: "new", State: "loading"}}
	if err := RegisterCatalogMetrics(registry, func() []CatalogState { return states }, func() time.Time { return now }); err != nil {
		t.Fatal(err)
	}
	certificate := CertificateState{NotAfter: now.Add(time.Hour), Trusted: true, TrustKnown: true, Rotations: 3, Changes: 1}
	if err := RegisterCertificateMetrics(registry, func() CertificateState { return certificate }); err != nil {
		t.Fatal(err)
	}
	c := loadCase(t, tie)
	w := worldOf(t, c)
	w.options.Metrics = m
	h := w.handler(t)
	send(t, h, request(t, c.ClusterExtension(), nil))
	bare := request(t, c.ClusterExtension(), nil)
	bare.UserInfo.Groups = []string{DefaultBreakGlassGroup}
	send(t, h, bare)
	m.notes.WithLabelValues("MajorJump").Inc()

	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range families {
		got[f.GetName()] = strings.ToLower(f.GetType().String())
	}
	want := map[string]string{}
	for _, d := range MetricDocs() {
		want[d.Name] = d.Type
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	err = testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP olmgate_admission_reviews_total Reviews by what became of them.
# TYPE olmgate_admission_reviews_total counter
olmgate_admission_reviews_total{decision="allow",outcome="Bypassed",reason=""} 1
olmgate_admission_reviews_total{decision="deny",outcome="Failed",reason="AmbiguousCatalogs"} 1
# HELP olmgate_catalog_bundles Bundles in the content at hand; absent without content.
# TYPE olmgate_catalog_bundles gauge
olmgate_catalog_bundles{catalog="hub"} 7
# HELP olmgate_catalog_content_age_seconds Time since the content at hand was loaded; absent without content.
# TYPE olmgate_catalog_content_age_seconds gauge
olmgate_catalog_content_age_seconds{catalog="hub"} 90
# HELP olmgate_catalog_state 1 for the state a catalog's content is in.
# TYPE olmgate_catalog_state gauge
olmgate_catalog_state{catalog="hub",state="current"} 1
olmgate_catalog_state{catalog="new",state="loading"} 1
# HELP olmgate_certificate_not_after_timestamp_seconds When the serving certificate expires, as a Unix time; absent without one.
# TYPE olmgate_certificate_not_after_timestamp_seconds gauge
olmgate_certificate_not_after_timestamp_seconds 4600
# HELP olmgate_certificate_rotations_total How often the serving certificate was replaced since the start.
# TYPE olmgate_certificate_rotations_total counter
olmgate_certificate_rotations_total{authority="other"} 1
olmgate_certificate_rotations_total{authority="same"} 2
# HELP olmgate_certificate_trusted 1 when the serving certificate verifies under the caBundle of every webhook, as last seen, 0 when not; absent for certificates from files.
# TYPE olmgate_certificate_trusted gauge
olmgate_certificate_trusted 1
`), "olmgate_certificate_not_after_timestamp_seconds", "olmgate_certificate_rotations_total", "olmgate_certificate_trusted", "olmgate_admission_reviews_total", "olmgate_catalog_bundles", "olmgate_catalog_content_age_seconds", "olmgate_catalog_state")
	if err != nil {
		t.Error(err)
	}
	if n := testutil.ToFloat64(m.bypasses.WithLabelValues("break-glass")); n != 1 {
		t.Errorf("%v bypasses", n)
	}
}

func TestMetricsCannotBeRegisteredTwice(t *testing.T) {
	registry := prometheus.NewRegistry()
	if _, err := NewMetrics(registry); err != nil {
		t.Fatal(err)
	}
	if _, err := NewMetrics(registry); err == nil {
		t.Error("no error")
	}
}

func TestACertificateThatIsNotKnownLeavesNoSeries(t *testing.T) {
	registry := prometheus.NewRegistry()
	if err := RegisterCertificateMetrics(registry, func() CertificateState { return CertificateState{} }); err != nil {
		t.Fatal(err)
	}
	if n, err := testutil.GatherAndCount(registry, "olmgate_certificate_not_after_timestamp_seconds", "olmgate_certificate_trusted"); n != 0 || err != nil {
		t.Errorf("%d series, %v", n, err)
	}
}
