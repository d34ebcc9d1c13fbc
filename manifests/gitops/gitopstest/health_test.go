package gitopstest

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write argocd-cm.yaml from the scripts")

const (
	argoDir = "../argocd"
	fluxDir = "../flux"
	group   = "olm.operatorframework.io"
)

// checks are the health checks of a kind.
type checks struct {
	kind  string
	lua   string
	flux  kustomize.CustomHealthCheck
	cases map[string]testCase
}

// kinds are those that there are health checks of.
func kinds(t *testing.T) []checks {
	t.Helper()
	all := []checks{
		{kind: "ClusterExtension", lua: read(t, argoDir+"/clusterextension.lua"), cases: extensionCases},
		{kind: "ClusterCatalog", lua: read(t, argoDir+"/clustercatalog.lua"), cases: catalogCases},
	}
	for i, file := range []string{"extensions.yaml", "catalogs.yaml"} {
		expressions := kustomization(t, file).Spec.HealthCheckExprs
		if len(expressions) != 1 || expressions[0].APIVersion != group+"/v1" || expressions[0].Kind != all[i].kind {
			t.Fatalf("%s: the expressions are not those of %s", file, all[i].kind)
		}
		all[i].flux = expressions[0]
	}
	return all
}

func TestWhatArgoCDAndFluxSay(t *testing.T) {
	for _, k := range kinds(t) {
		reader := fluxReader(t, k.flux)
		for name, tc := range k.cases {
			t.Run(k.kind+"/"+name, func(t *testing.T) {
				o := object(k.kind, tc.edits, tc.conditions...)
				got, err := runLua(k.lua, o)
				if err != nil {
					t.Fatal(err)
				}
				if want := (argoHealth{tc.argo, tc.message}); got != want {
					t.Errorf("Argo CD says %v, must say %v", got, want)
				}
				if got := runFlux(t, reader, o); got != tc.flux {
					t.Errorf("Flux says %s, must say %s", got, tc.flux)
				}
			})
		}
	}
}

// TestTheCasesAreObjects decodes what the API server could hold, so that no case rests on a field that does not exist.
func TestTheCasesAreObjects(t *testing.T) {
	for _, k := range kinds(t) {
		for name, tc := range k.cases {
			if tc.invalid {
				continue
			}
			text, err := yaml.Marshal(object(k.kind, tc.edits, tc.conditions...))
			if err != nil {
				t.Fatal(err)
			}
			var into any = &ocv1.ClusterExtension{}
			if k.kind == "ClusterCatalog" {
				into = &ocv1.ClusterCatalog{}
			}
			if err := yaml.UnmarshalStrict(text, into); err != nil {
				t.Errorf("%s: %s: %v", k.kind, name, err)
			}
		}
	}
}

// TestWithoutTheseChecksAFailureLooksWell shows what they are for, with the rules that Flux has for every object. Argo CD
// has none for these kinds: a resource without a rule counts as healthy there.
func TestWithoutTheseChecksAFailureLooksWell(t *testing.T) {
	for kind, lines := range map[string][]string{
		"ClusterExtension": {retrying, hasNot, ambiguous},
		"ClusterCatalog":   {"Progressing=True/Retrying@2: no such tag"},
	} {
		got, err := status.Compute(&unstructured.Unstructured{Object: object(kind, nil, lines...)})
		if err != nil {
			t.Fatal(err)
		}
		if got.Status != ready {
			t.Errorf("%s: Flux says %s by itself, so the documentation is out of date", kind, got.Status)
		}
	}
}

// TestBothEnginesAgree gives every combination of conditions to both, and compares them with each other and with rules
// that hold whatever else does.
func TestBothEnginesAgree(t *testing.T) {
	same := map[string]status.Status{healthy: ready, progressing: waits, degraded: fails}
	for _, k := range kinds(t) {
		reader := fluxReader(t, k.flux)
		seen := map[string]int{}
		choices := [][]string{
			{"", "Progressing=True/Succeeded", "Progressing=True/Retrying", "Progressing=Unknown/Retrying", "Progressing=False/Blocked"},
		}
		if k.kind == "ClusterExtension" {
			choices = append(choices,
				[]string{"", "olmgate.dev/Resolved=True/Resolved", "olmgate.dev/Resolved=False/NoUpgradePath", "olmgate.dev/Resolved=Unknown/CatalogContentUnavailable"},
				[]string{"", "Installed=True/Succeeded", "Installed=False/Failed"},
				[]string{"", "Available=True/ProbesSucceeded", "Available=False/ProbeFailure"},
			)
		} else {
			choices = append(choices, []string{"", "Serving=True/Available", "Serving=False/Unavailable", "Serving=False/UserSpecifiedUnavailable"})
		}
		for _, lines := range combinations(choices) {
			for _, edits := range [][]edit{nil, {deleting}, {set("spec.source.sourceType", "Image")}} {
				o := object(k.kind, edits, lines...)
				argo, err := runLua(k.lua, o)
				if err != nil {
					t.Fatalf("%s: %v: %v", k.kind, lines, err)
				}
				flux := runFlux(t, reader, o)
				seen[argo.Status]++
				if same[argo.Status] != flux {
					t.Errorf("%s: %v: Argo CD says %v, Flux %s", k.kind, lines, argo, flux)
				}
				if argo.Message == "" {
					t.Errorf("%s: %v: %s without a message", k.kind, lines, argo.Status)
				}
				has := func(line string) bool { return slices.Contains(lines, line) }
				if argo.Status == healthy && (!has("Progressing=True/Succeeded@2") || has("olmgate.dev/Resolved=False/NoUpgradePath@2")) {
					t.Errorf("%s: %v is healthy", k.kind, lines)
				}
				if argo.Status == degraded && !has("Progressing=False/Blocked@2") && !has("olmgate.dev/Resolved=False/NoUpgradePath@2") {
					t.Errorf("%s: %v is degraded", k.kind, lines)
				}
			}
		}
		if len(seen) != 3 {
			t.Errorf("%s: the combinations give only %v", k.kind, seen)
		}
	}
}

// combinations picks one of each list, which may be none, and puts it at the present and at an older generation.
func combinations(choices [][]string) [][]string {
	if len(choices) == 0 {
		return [][]string{nil}
	}
	var all [][]string
	for _, rest := range combinations(choices[1:]) {
		for _, choice := range choices[0] {
			if choice == "" {
				all = append(all, rest)
				continue
			}
			for _, observed := range []int{generation - 1, generation} {
				all = append(all, append([]string{fmt.Sprintf("%s@%d", choice, observed)}, rest...))
			}
		}
	}
	return all
}
