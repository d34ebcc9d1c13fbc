package charttest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files and the chart's copies of files of the components")

const (
	manifests = ".."
	chartDir  = manifests + "/chart/olmgate"
	namespace = "olmgate-system"
)

// values are a values file as YAML.
func values(t *testing.T, text string) map[string]any {
	t.Helper()
	v := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// render is what Helm makes of the chart, a text per template.
func render(v map[string]any, namespace string) (map[string]string, error) {
	chart, err := loader.Load(chartDir)
	if err != nil {
		return nil, err
	}
	capabilities := common.DefaultCapabilities.Copy()
	all, err := util.ToRenderValues(chart, v, common.ReleaseOptions{Name: "olmgate", Namespace: namespace, Revision: 1, IsInstall: true}, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.RenderWithContext(context.Background(), chart, all)
}

// template is what "helm template" prints.
func template(t *testing.T, text string) string {
	t.Helper()
	files, err := render(values(t, text), namespace)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, doc := range strings.Split("\n"+files[name], "\n---\n") {
			if strings.HasSuffix(name, ".yaml") && hasObject(t, name, doc) {
				fmt.Fprintf(&out, "---\n# %s\n%s\n", strings.TrimPrefix(name, "olmgate/"), strings.Trim(doc, "\n"))
			}
		}
	}
	return out.String()
}

func hasObject(t *testing.T, name, doc string) bool {
	t.Helper()
	var object map[string]any
	if err := yaml.UnmarshalStrict([]byte(doc), &object); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, doc)
	}
	return len(object) > 0
}

// variants are the values that are rendered into golden files. The tests against a real API server apply these.
var variants = map[string]string{
	"default":      "{}",
	"warn":         "mode: Warn",
	"fail-closed":  "webhook: {failurePolicy: Fail}",
	"cert-manager": "certificates: {source: CertManager}",
	"openshift":    "certificates: {source: OpenShift}",
	"write-status": "statusWriter: {enabled: true, inProcess: true, conditions: full, writesPerSecond: 0.5}",
	"everything": `
image: {repository: registry.example.com:5000/olmgate/olmgate, digest: "sha256:` + strings.Repeat("0123456789abcdef", 4) + `"}
imagePullSecrets: [{name: pull}]
replicas: 3
mode: Enforce
config: {rule: Bundle, policy: {notes: {MajorJump: Ignore}}, breakGlass: {group: "platform:emergency"}}
extraArgs: [--log-level=debug]
extraEnv: [{name: HTTPS_PROXY, value: "http://proxy.example.com:3128"}]
extraVolumes: [{name: client-ca, secret: {secretName: client-ca}}]
extraVolumeMounts: [{name: client-ca, mountPath: /var/run/olmgate/client-ca, readOnly: true}]
certificates: {source: CertManager, certManager: {create: true}}
serviceAccount: {annotations: {example.com/a: b}}
podLabels: {example.com/team: platform}
podAnnotations: {example.com/a: b}
nodeSelector: {kubernetes.io/os: linux, node-role.kubernetes.io/infra: ""}
tolerations: [{key: node-role.kubernetes.io/infra, operator: Exists}]
affinity: {podAntiAffinity: null}
topologySpreadConstraints: []
podDisruptionBudget: {maxUnavailable: 34%}
networkPolicy: {enabled: true, metricsNamespaceLabels: {kubernetes.io/metadata.name: monitoring}}
prometheus: {serviceMonitor: {enabled: true, labels: {release: prometheus}}, rules: {enabled: true, labels: {release: prometheus}}, dashboard: {enabled: true}}
statusWriter: {enabled: true, conditions: full, writesPerSecond: 5, replicas: 3, extraArgs: [--log-level=debug], goMemLimit: 430MiB, priorityClassName: low, resources: {limits: {memory: 512Mi}}}
admissionPolicy: {enabled: true, validationActions: [Warn, Audit]}
doctor: {postInstall: true}
`,
}

func TestTheChartRendersAsBefore(t *testing.T) {
	for name, text := range variants {
		t.Run(name, func(t *testing.T) {
			got := template(t, text)
			golden := filepath.Join("testdata", name+".yaml")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("run with -update after looking at this: %s", diff)
			}
		})
	}
}

func TestTheNotes(t *testing.T) {
	for name, tc := range map[string]struct {
		values     string
		has, lacks []string
	}{
		"by default":        {"{}", []string{"It denies", "helm test olmgate --namespace olmgate-system", "ClusterIssuer olmv1-ca"}, []string{"failurePolicy is Fail", "one replica"}},
		"in mode Warn":      {"mode: Warn", []string{"denies none"}, []string{"It denies"}},
		"failing closed":    {"webhook: {failurePolicy: Fail}", []string{"kubectl delete validatingwebhookconfiguration olmgate"}, nil},
		"with one replica":  {"replicas: 1", []string{"With one replica"}, nil},
		"on OpenShift":      {"certificates: {source: OpenShift}", nil, []string{"cert-manager"}},
		"without a doctor":  {"doctor: {enabled: false}", nil, []string{"helm test"}},
		"with a CA by hand": {"catalogd: {caSecret: mine}", nil, []string{"cert-manager"}},
		"writing status":    {"statusWriter: {enabled: true}", []string{"is written into its status", "deployment/olmgate-status-writer"}, nil},
		"in process":        {"statusWriter: {enabled: true, inProcess: true}", []string{"is written into its status"}, []string{"deployment/olmgate-status-writer"}},
		"in no process":     {"statusWriter: {inProcess: true}", nil, []string{"is written into its status"}},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := render(values(t, tc.values), namespace)
			if err != nil {
				t.Fatal(err)
			}
			notes := files["olmgate/templates/NOTES.txt"]
			for _, part := range tc.has {
				if !strings.Contains(notes, part) {
					t.Errorf("%q is not in:\n%s", part, notes)
				}
			}
			for _, part := range tc.lacks {
				if strings.Contains(notes, part) {
					t.Errorf("%q is in:\n%s", part, notes)
				}
			}
		})
	}
}

// TestTheChartIsClean is "helm lint --strict", with each set of values.
func TestTheChartIsClean(t *testing.T) {
	for name, text := range variants {
		t.Run(name, func(t *testing.T) {
			linter := lint.RunAll(chartDir, values(t, text), namespace)
			for _, m := range linter.Messages {
				if m.Severity >= support.WarningSev {
					t.Error(m)
				} else if !strings.Contains(m.Error(), "icon is recommended") {
					t.Log(m)
				}
			}
		})
	}
}

// TestTheSchema says which values are refused, by the name of the value that the message has.
func TestTheSchema(t *testing.T) {
	for text, field := range map[string]string{
		"replica: 3":                                   "replica",
		"replicas: two":                                "replicas",
		"replicas: 0":                                  "replicas",
		"mode: warn":                                   "mode",
		"image: {repository: 'a b'}":                   "repository",
		"image: {repository: 'olmgate:latest'}":        "repository",
		"image: {digest: latest}":                      "digest",
		"image: {name: olmgate}":                       "name",
		"webhook: {failurePolicy: Open}":               "failurePolicy",
		"webhook: {timeoutSeconds: 60}":                "timeoutSeconds",
		"config: {modus: Warn}":                        "modus",
		"config: {cacheDir: /tmp}":                     "cacheDir",
		"config: {breakGlass: {group: \"it's\"}}":      "group",
		"extraArgs: [serve]":                           "extraArgs",
		"certificates: {source: Files}":                "source",
		"certificates: {certManager: {created: true}}": "created",
		"podLabels: {app.kubernetes.io/name: mine}":    "propertyName",
		"runAsUser: 0":                                 "runAsUser",
		"resources: {limits: {memory: lots}}":          "memory",
		"goMemLimit: 200Mi":                            "goMemLimit",
		"podDisruptionBudget: {maxUnavailable: 0}":     "maxUnavailable",
		"podDisruptionBudget: {maxUnavailable: 0%}":    "maxUnavailable",
		"terminationGracePeriodSeconds: 10":            "terminationGracePeriodSeconds",
		"tolerations: [{keys: a}]":                     "keys",
		"affinity: {podAffinities: {}}":                "affinity",

		"config: {statusWriter: {enabled: true}}":    "statusWriter",
		"statusWriter: {inprocess: true}":            "inprocess",
		"statusWriter: {conditions: plain}":          "conditions",
		"statusWriter: {writesPerSecond: 0}":         "writesPerSecond",
		"statusWriter: {writesPerSecond: fast}":      "writesPerSecond",
		"statusWriter: {replicas: 0}":                "replicas",
		"statusWriter: {extraArgs: [status-writer]}": "extraArgs",

		"prometheus: {enabled: true}":                        "enabled",
		"prometheus: {serviceMonitor: {interval: often}}":    "interval",
		"admissionPolicy: {validationActions: [Deny, Warn]}": "validationActions",
		"admissionPolicy: {validationActions: []}":           "validationActions",
		"doctor: {enabled: 'true'}":                          "enabled",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := render(values(t, text), namespace)
			if err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("want an error about %s, got %v", field, err)
			}
		})
	}
}

// TestTheSchemaKnowsEveryValue looks for a property of the schema for each default, and the other way round.
func TestTheSchemaKnowsEveryValue(t *testing.T) {
	schema := map[string]any{}
	read(t, chartDir+"/values.schema.json", &schema)
	defaults := map[string]any{}
	read(t, chartDir+"/values.yaml", &defaults)
	var look func(at string, schema, defaults map[string]any)
	look = func(at string, schema, defaults map[string]any) {
		properties, _ := schema["properties"].(map[string]any)
		if properties == nil || at == "config." {
			return
		}
		if schema["additionalProperties"] != false {
			t.Errorf("%s lets unknown values in", at)
		}
		for name := range properties {
			if _, ok := defaults[name]; !ok && name != "global" && at != "affinity." {
				t.Errorf("%s%s has no default", at, name)
			}
		}
		for name, value := range defaults {
			property, ok := properties[name].(map[string]any)
			if !ok {
				t.Errorf("%s%s is not in the schema", at, name)
				continue
			}
			if inner, ok := value.(map[string]any); ok {
				look(at+name+".", property, inner)
			}
		}
	}
	look("", schema, defaults)
}

// TestTheSchemaKnowsTheConfiguration compares it with the configuration's own defaults. What the chart decides is left
// out on purpose.
func TestTheSchemaKnowsTheConfiguration(t *testing.T) {
	var schema struct {
		Properties struct {
			Config struct{ Properties map[string]any }
		}
	}
	read(t, chartDir+"/values.schema.json", &schema)
	fields := map[string]any{}
	read(t, manifests+"/../config/testdata/defaults.yaml", &fields)
	for _, chart := range []string{"cacheDir", "metrics", "health", "statusWriter"} {
		delete(fields, chart)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(schema.Properties.Config.Properties))); diff != "" {
		t.Error(diff)
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestTheREADMEHasEveryValue compares its table with values.yaml.
func TestTheREADMEHasEveryValue(t *testing.T) {
	defaults := map[string]any{}
	read(t, chartDir+"/values.yaml", &defaults)
	want := map[string]string{}
	var walk func(at string, fields map[string]any)
	walk = func(at string, fields map[string]any) {
		for name, value := range fields {
			inner, ok := value.(map[string]any)
			switch {
			case name == "resources", at+name == "affinity", at+name == "topologySpreadConstraints":
				want[at+name] = "see values.yaml"
			case ok && len(inner) > 0 && !slices.Contains(wholes, at+name):
				walk(at+name+".", inner)
			default:
				raw, err := json.Marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				want[at+name] = "`" + string(raw) + "`"
			}
		}
	}
	walk("", defaults)
	page, err := os.ReadFile(chartDir + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Za-z.]+)` \\| ([^|]+) \\| [^|]+ \\|$").FindAllStringSubmatch(string(page), -1) {
		got[m[1]] = m[2]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// wholes are values that are maps as a whole.
var wholes = []string{"nodeSelector", "networkPolicy.metricsNamespaceLabels", "prometheus.dashboard.labels"}

// TestBreakGlassReachesEveryCondition: the webhook's conditions and the policies must agree with the configuration.
func TestBreakGlassReachesEveryCondition(t *testing.T) {
	text := template(t, "config: {breakGlass: {group: wheel, annotation: false}}\nadmissionPolicy: {enabled: true}")
	for part, want := range map[string]int{"olmgate:break-glass": 0, "olmgate.dev/bypass": 0, "in request.userInfo.?groups.orValue([]))": 2, "wheel": 3} {
		if got := strings.Count(text, part); got != want {
			t.Errorf("%q is there %d times, want %d:\n%s", part, got, want, text)
		}
	}
	if text := template(t, "config: {breakGlass: {group: ''}}"); strings.Contains(text, "not-break-glass") {
		t.Error("without a group there is a condition for it")
	}
}
