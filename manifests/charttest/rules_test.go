package charttest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"sigs.k8s.io/yaml"
)

var promql = parser.NewParser(parser.Options{})

// alerts are the rules of the component prometheus, by name, as Prometheus itself reads a file of rules.
func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	var object struct{ Spec map[string]any }
	read(t, manifests+"/components/prometheus/rules.yaml", &object)
	text, err := yaml.Marshal(object.Spec)
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(text, false, model.UTF8Validation, promql, promslog.NewNopLogger())
	for _, err := range errs {
		t.Error(err)
	}
	all := map[string]rulefmt.Rule{}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			all[r.Alert] = r
		}
	}
	return all
}

// known are the metrics that alerts and the dashboard may use: those of docs/metrics.md, and others' by name.
func known(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(manifests + "/../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{
		// Of the API server.
		"apiserver_admission_webhook_admission_duration_seconds", "apiserver_admission_webhook_fail_open_count",
		"apiserver_admission_webhook_rejection_count",
		// Of kube-state-metrics.
		"kube_deployment_status_replicas_available", "kube_deployment_spec_replicas",
		// Of Prometheus and of every program that client_golang is in.
		"up", "process_resident_memory_bytes", "process_cpu_seconds_total", "go_goroutines",
		// Of every process of controller-runtime that takes part in an election.
		"leader_election_master_status",
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(olmgate_[a-z_]+)`").FindAllStringSubmatch(string(page), -1) {
		names = append(names, m[1])
	}
	return names
}

// checkMetrics parses an expression and looks its metrics up.
func checkMetrics(t *testing.T, where, expression string, known []string) {
	t.Helper()
	expr, err := promql.ParseExpr(expression)
	if err != nil {
		t.Errorf("%s: %v in %s", where, err, expression)
		return
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if v, ok := node.(*parser.VectorSelector); ok {
			name := v.Name
			for _, suffix := range []string{"_bucket", "_sum"} {
				name = strings.TrimSuffix(name, suffix)
			}
			if !slices.Contains(known, name) && !slices.Contains(known, strings.TrimSuffix(name, "_count")) {
				t.Errorf("%s: nobody has the metric %s", where, v.Name)
			}
		}
		return nil
	})
}

func TestEveryAlertLeadsToARunbook(t *testing.T) {
	page, err := os.ReadFile(manifests + "/../docs/runbooks.md")
	if err != nil {
		t.Fatal(err)
	}
	metrics := known(t)
	names := map[string]bool{}
	for name, rule := range alerts(t) {
		names[name] = true
		checkMetrics(t, name, rule.Expr, metrics)
		if !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) {
			t.Errorf("%s has the severity %q", name, rule.Labels["severity"])
		}
		for _, key := range []string{"summary", "description"} {
			if !strings.HasSuffix(rule.Annotations[key], ".") {
				t.Errorf("%s: the %s is %q", name, key, rule.Annotations[key])
			}
		}
		if want := "https://github.com/olmgate/olmgate/blob/main/docs/runbooks.md#" + strings.ToLower(name); rule.Annotations["runbook_url"] != want {
			t.Errorf("%s: the runbook is at %s", name, rule.Annotations["runbook_url"])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^### (\w+)$`).FindAllStringSubmatch(string(page), -1) {
		if !names[m[1]] {
			t.Errorf("docs/runbooks.md has a heading %s, which is no alert", m[1])
		}
		delete(names, m[1])
	}
	for name := range names {
		t.Errorf("docs/runbooks.md has no heading %s", name)
	}
}

// TestWhenAlertsFire runs each rule over an hour or more of made-up series, a sample a minute.
func TestWhenAlertsFire(t *testing.T) {
	const hook = `name="clusterextensions.olmgate.dev"`
	tested := map[string][2]bool{}
	rule := alerts(t)
	for name, tc := range map[string]struct {
		alert, series string
		after         time.Duration
		fires         bool
	}{
		"nothing is scraped":                       {"OlmgateDown", `up{job="olmgate"} 0x60`, 10 * time.Minute, true},
		"one of two is scraped":                    {"OlmgateDown", "up{job=\"olmgate\",pod=\"a\"} 0x60\nup{job=\"olmgate\",pod=\"b\"} 1x60", 10 * time.Minute, false},
		"no replica":                               {"OlmgateNoReplica", `kube_deployment_status_replicas_available{namespace="n",deployment="olmgate"} 2 0x60`, 10 * time.Minute, true},
		"one replica":                              {"OlmgateNoReplica", `kube_deployment_status_replicas_available{namespace="n",deployment="olmgate"} 2 1x60`, 10 * time.Minute, false},
		"no replica of something else":             {"OlmgateNoReplica", `kube_deployment_status_replicas_available{namespace="n",deployment="other"} 0x60`, 10 * time.Minute, false},
		"one replica for half an hour":             {"OlmgateReplicaMissing", replicas("1x60"), 30 * time.Minute, true},
		"one replica during a rollout":             {"OlmgateReplicaMissing", replicas("1x8 2x60"), 30 * time.Minute, false},
		"the first call that failed open":          {"OlmgateFailedOpen", `apiserver_admission_webhook_fail_open_count{` + hook + `,type="validating"} _x20 1x40`, 22 * time.Minute, true},
		"a call that failed open long ago":         {"OlmgateFailedOpen", `apiserver_admission_webhook_fail_open_count{` + hook + `,type="validating"} _x20 1x80`, 60 * time.Minute, false},
		"another call that failed open":            {"OlmgateFailedOpen", `apiserver_admission_webhook_fail_open_count{` + hook + `,type="validating"} 3x30 4x40`, 35 * time.Minute, true},
		"a call of another webhook":                {"OlmgateFailedOpen", `apiserver_admission_webhook_fail_open_count{name="other",type="validating"} _x20 1x40`, 22 * time.Minute, false},
		"the first call that failed closed":        {"OlmgateFailedClosed", `apiserver_admission_webhook_rejection_count{` + hook + `,error_type="calling_webhook_error"} _x20 1x40`, 22 * time.Minute, true},
		"calls that were denied":                   {"OlmgateFailedClosed", `apiserver_admission_webhook_rejection_count{` + hook + `,error_type="no_error",rejection_code="403"} 0+1x60`, 22 * time.Minute, false},
		"an error":                                 {"OlmgateErrors", `olmgate_admission_errors_total{namespace="n",kind="panic"} 0x30 1x60`, 32 * time.Minute, true},
		"no error":                                 {"OlmgateErrors", `olmgate_admission_errors_total{namespace="n",kind="panic"} 1x60`, 32 * time.Minute, false},
		"calls of two seconds":                     {"OlmgateSlowForAPIServer", histogram("apiserver_admission_webhook_admission_duration_seconds", hook, "1", "2.5"), 30 * time.Minute, true},
		"calls of a moment":                        {"OlmgateSlowForAPIServer", histogram("apiserver_admission_webhook_admission_duration_seconds", hook, "0.005", "0.025"), 30 * time.Minute, false},
		"reviews of two seconds":                   {"OlmgateSlow", histogram("olmgate_admission_duration_seconds", `namespace="n"`, "1", "2.5"), 30 * time.Minute, true},
		"reviews of a moment":                      {"OlmgateSlow", histogram("olmgate_admission_duration_seconds", `namespace="n"`, "0.0005", "0.001"), 30 * time.Minute, false},
		"a denial a minute, since this hour":       {"OlmgateManyDenials", `olmgate_admission_reviews_total{namespace="n",decision="deny"} 0x1500 0+1x120`, 26 * time.Hour, true},
		"a denial a minute, as ever":               {"OlmgateManyDenials", `olmgate_admission_reviews_total{namespace="n",decision="deny"} 0+1x1700`, 26 * time.Hour, false},
		"three denials":                            {"OlmgateManyDenials", `olmgate_admission_reviews_total{namespace="n",decision="deny"} 0x1500 0+1x3 3x120`, 26 * time.Hour, false},
		"a third undecided":                        {"OlmgateManyUndecided", outcomes("0+1x120", "0+2x120"), 110 * time.Minute, true},
		"one in thirty undecided":                  {"OlmgateManyUndecided", outcomes("0+1x120", "0+30x120"), 110 * time.Minute, false},
		"two undecided of two":                     {"OlmgateManyUndecided", outcomes("0x60 2x60", "0x120"), 110 * time.Minute, false},
		"lists that fail":                          {"OlmgateDenialsNotConfirmed", `olmgate_admission_fresh_list_duration_seconds_count{namespace="n",result="error"} 0+1x60`, 40 * time.Minute, true},
		"one list that failed":                     {"OlmgateDenialsNotConfirmed", `olmgate_admission_fresh_list_duration_seconds_count{namespace="n",result="error"} 0x10 1x60`, 40 * time.Minute, false},
		"an annotation that spared a denial":       {"OlmgateBypassed", `olmgate_admission_bypasses_total{namespace="n",by="annotation"} 0x30 1x60`, 40 * time.Minute, true},
		"an exempt user":                           {"OlmgateBypassed", `olmgate_admission_bypasses_total{namespace="n",by="user"} 0+1x60`, 40 * time.Minute, false},
		"a certificate for four days":              {"OlmgateCertificateExpires", "olmgate_certificate_not_after_timestamp_seconds{namespace=\"n\",pod=\"a\"} 345600x60\nolmgate_certificate_not_after_timestamp_seconds{namespace=\"n\",pod=\"b\"} 3456000x60", 30 * time.Minute, true},
		"a certificate for nine days":              {"OlmgateCertificateExpires", `olmgate_certificate_not_after_timestamp_seconds{namespace="n",pod="a"} 777600x60`, 30 * time.Minute, false},
		"a certificate that nobody trusts":         {"OlmgateCertificateNotTrusted", "olmgate_certificate_trusted{namespace=\"n\",pod=\"a\"} 0x60\nolmgate_certificate_trusted{namespace=\"n\",pod=\"b\"} 1x60", 10 * time.Minute, true},
		"a certificate that is not trusted yet":    {"OlmgateCertificateNotTrusted", `olmgate_certificate_trusted{namespace="n",pod="a"} 0x2 1x60`, 10 * time.Minute, false},
		"a catalog that does not load":             {"OlmgateCatalogNotLoaded", `olmgate_catalog_state{namespace="n",catalog="hub",state="failed"} 1x60`, 30 * time.Minute, true},
		"a catalog that fails, then is loading":    {"OlmgateCatalogNotLoaded", "olmgate_catalog_state{namespace=\"n\",catalog=\"hub\",state=\"failed\"} 1x9 _x60\nolmgate_catalog_state{namespace=\"n\",catalog=\"hub\",state=\"loading\"} _x10 1x60", 30 * time.Minute, true},
		"a catalog that was loading":               {"OlmgateCatalogNotLoaded", "olmgate_catalog_state{namespace=\"n\",catalog=\"hub\",state=\"loading\"} 1x9 stale\nolmgate_catalog_state{namespace=\"n\",catalog=\"hub\",state=\"current\"} _x10 1x60", 30 * time.Minute, false},
		"an outdated catalog":                      {"OlmgateCatalogOutdated", `olmgate_catalog_state{namespace="n",catalog="hub",state="outdated"} 1x60`, 40 * time.Minute, true},
		"a current catalog":                        {"OlmgateCatalogOutdated", `olmgate_catalog_state{namespace="n",catalog="hub",state="current"} 1x60`, 40 * time.Minute, false},
		"a catalog that does not serve":            {"OlmgateCatalogNotServing", `olmgate_catalog_state{namespace="n",catalog="hub",state="notServing"} 1x60`, 40 * time.Minute, true},
		"a catalog that did not serve for a while": {"OlmgateCatalogNotServing", `olmgate_catalog_state{namespace="n",catalog="hub",state="notServing"} 1x20 stale`, 40 * time.Minute, false},

		"no replica of the status writer":           {"OlmgateStatusWriterDown", `kube_deployment_status_replicas_available{namespace="n",deployment="olmgate-status-writer"} 2 0x60`, 20 * time.Minute, true},
		"one replica of the status writer":          {"OlmgateStatusWriterDown", `kube_deployment_status_replicas_available{namespace="n",deployment="olmgate-status-writer"} 2 1x60`, 20 * time.Minute, false},
		"two that stand by":                         {"OlmgateStatusNotWritten", leaders("0x60", "0x60"), 20 * time.Minute, true},
		"a leader that does not work":               {"OlmgateStatusNotWritten", leaders("1x60", "0x60"), 20 * time.Minute, true},
		"a leader without extensions":               {"OlmgateStatusNotWritten", leaders("1x60", "0x60") + "\n" + `olmgate_extensions{namespace="n",pod="a",outcome="Failed"} 0x60`, 20 * time.Minute, false},
		"a leader that comes after five minutes":    {"OlmgateStatusNotWritten", leaders("0x60", "0x5 1x60") + "\n" + `olmgate_extensions{namespace="n",pod="b",outcome="Failed"} _x6 0x60`, 30 * time.Minute, false},
		"no status writer at all":                   {"OlmgateStatusNotWritten", `leader_election_master_status{namespace="n",name="somebody-else"} 0x60`, 20 * time.Minute, false},
		"a write that fails again and again":        {"OlmgateStatusWritesFail", `olmgate_status_writes_total{namespace="n",result="error"} 0+1x60`, 40 * time.Minute, true},
		"an API server that was away":               {"OlmgateStatusWritesFail", `olmgate_status_writes_total{namespace="n",result="error"} 0x10 0+50x3 200x60`, 40 * time.Minute, false},
		"writes that succeed":                       {"OlmgateStatusWritesFail", `olmgate_status_writes_total{namespace="n",result="success"} 0+60x60`, 40 * time.Minute, false},
		"a write that is always waiting":            {"OlmgateStatusWritesPending", `olmgate_status_pending_writes{namespace="n"} 1x60`, 40 * time.Minute, true},
		"many writes that get done":                 {"OlmgateStatusWritesPending", `olmgate_status_pending_writes{namespace="n"} 2000-100x20 0x60`, 40 * time.Minute, false},
		"an extension that does not resolve":        {"OlmgateExtensionFailed", failed("a", "1x60"), 40 * time.Minute, true},
		"the same while another replica takes over": {"OlmgateExtensionFailed", failed("a", "1x15 stale") + "\n" + failed("b", "_x18 1x60"), 40 * time.Minute, true},
		"an extension that failed for a while":      {"OlmgateExtensionFailed", failed("a", "1x20 stale"), 40 * time.Minute, false},
		"an extension that resolves":                {"OlmgateExtensionFailed", `olmgate_extension_state{namespace="n",extension="kiln",outcome="Resolved",reason="Resolved"} 1x60`, 40 * time.Minute, false},
		"three extensions undecided":                {"OlmgateExtensionsUndecided", `olmgate_extensions{namespace="n",outcome="Undecided"} 3x60`, 40 * time.Minute, true},
		"extensions that were undecided":            {"OlmgateExtensionsUndecided", `olmgate_extensions{namespace="n",outcome="Undecided"} 3x20 0x60`, 40 * time.Minute, false},
		"extensions that do not resolve":            {"OlmgateExtensionsUndecided", `olmgate_extensions{namespace="n",outcome="Failed"} 3x60`, 40 * time.Minute, false},
		"an update for more than a week":            {"OlmgateUpdateWaits", `olmgate_extension_update_available{namespace="n",extension="kiln"} 1x11000`, 170 * time.Hour, true},
		"an update for six days":                    {"OlmgateUpdateWaits", `olmgate_extension_update_available{namespace="n",extension="kiln"} 1x8640 0x3000`, 170 * time.Hour, false},
		"six upgrades behind for a day":             {"OlmgateUpgradesBehind", `olmgate_extension_hops_behind{namespace="n",extension="kiln"} 6x1500`, 25 * time.Hour, true},
		"four upgrades behind":                      {"OlmgateUpgradesBehind", `olmgate_extension_hops_behind{namespace="n",extension="kiln"} 4x1500`, 25 * time.Hour, false},
	} {
		both := tested[tc.alert]
		both[map[bool]int{true: 1}[tc.fires]] = true
		tested[tc.alert] = both
		t.Run(name, func(t *testing.T) {
			r, ok := rule[tc.alert]
			if !ok {
				t.Fatalf("no alert %s", tc.alert)
			}
			expr, err := promql.ParseExpr(r.Expr)
			if err != nil {
				t.Fatal(err)
			}
			storage := promqltest.LoadedStorage(t, "load 1m\n  "+strings.ReplaceAll(tc.series, "\n", "\n  ")+"\n")
			engine := promqltest.NewTestEngine(t, false, 5*time.Minute, promqltest.DefaultMaxSamplesPerQuery)
			alerting := rules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), 0, labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, promslog.NewNopLogger())
			query := rules.EngineQueryFunc(engine, storage)
			begin := time.Unix(0, 0).Add(max(0, tc.after-2*time.Hour-time.Duration(r.For)))
			for at := begin; !at.After(time.Unix(0, 0).Add(tc.after)); at = at.Add(time.Minute) {
				if _, err := alerting.Eval(t.Context(), 0, at, query, nil, 0); err != nil {
					t.Fatal(err)
				}
			}
			fires := slices.ContainsFunc(alerting.ActiveAlerts(), func(a *rules.Alert) bool { return a.State == rules.StateFiring })
			if fires != tc.fires {
				t.Errorf("%s fires: %v", tc.alert, fires)
			}
			for _, a := range alerting.ActiveAlerts() {
				for _, text := range []string{a.Annotations.Get("summary"), a.Annotations.Get("description")} {
					if strings.Contains(text, "error") && strings.Contains(text, "template") || strings.Contains(text, "<no value>") {
						t.Error(text)
					}
				}
				t.Log(a.Annotations.Get("description"))
			}
		})
	}
	for name := range rule {
		if !tested[name][0] || !tested[name][1] {
			t.Errorf("%s must be seen to fire and not to", name)
		}
	}
}

func replicas(available string) string {
	return `kube_deployment_status_replicas_available{namespace="n",deployment="olmgate",pod="x"} ` + available +
		"\n" + `kube_deployment_spec_replicas{namespace="n",deployment="olmgate",pod="x"} 2x60`
}

// leaders are two replicas that could write status, and whether they lead.
func leaders(a, b string) string {
	return `leader_election_master_status{namespace="n",name="olmgate-status-writer",pod="a"} ` + a +
		"\n" + `leader_election_master_status{namespace="n",name="olmgate-status-writer",pod="b"} ` + b
}

func failed(pod, values string) string {
	return `olmgate_extension_state{namespace="n",extension="kiln",outcome="Failed",reason="NoUpgradePath",pod="` + pod + `"} ` + values
}

func outcomes(undecided, resolved string) string {
	return `olmgate_admission_reviews_total{namespace="n",outcome="Undecided"} ` + undecided +
		"\n" + `olmgate_admission_reviews_total{namespace="n",outcome="Resolved"} ` + resolved
}

// histogram has two observations a minute, all of them between two bounds.
func histogram(name, with, above, below string) string {
	return name + "_bucket{" + with + `,le="` + above + `"} 0x60` + "\n" +
		name + "_bucket{" + with + `,le="` + below + `"} 0+2x60` + "\n" +
		name + "_bucket{" + with + `,le="+Inf"} 0+2x60`
}
