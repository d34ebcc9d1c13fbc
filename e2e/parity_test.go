package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
)

// said is what one door says of an extension.
type said struct{ outcome, reason, catalog, bundle string }

// Every door says the same of every extension of one corpus: the webhook, by its audit annotations, the condition that the
// status writer writes, and olmgate resolve. The annotation olmgate.dev/bypass lets what is denied be stored.
func TestEveryDoorSaysTheSame(t *testing.T) {
	w := gated(t)
	w.sample(0, "a", "b", "community", "operatorhubio")
	w.kubectl("patch", "clustercatalog", "b", "--type=merge", `--patch={"spec":{"priority":5}}`)
	w.apply(clusterCatalog("unborn", cluster.RegistryAddress+"/never-pushed:latest"))
	w.kubectl("patch", "clustercatalog", "unborn", "--type=merge", `--patch={"spec":{"priority":-5}}`)
	w.statusWriter()

	byName := func(name string) string {
		return "selector: {matchLabels: {olm.operatorframework.io/metadata.name: " + name + "}}"
	}
	corpus := map[string][]string{
		"plain":             {"packageName: kiln-operator"},
		"from-a":            {"packageName: kiln-operator", byName("a")},
		"pinned":            {"packageName: kiln-operator", byName("a"), "version: 1.0.1"},
		"ranged":            {"packageName: kiln-operator", byName("a"), `version: ">=1.0.0 <1.2.0"`},
		"absent-version":    {"packageName: kiln-operator", byName("a"), "version: 9.9.9"},
		"absent-channel":    {"packageName: kiln-operator", byName("a"), "channels: [nosuch]"},
		"unreadable-range":  {"packageName: kiln-operator", "version: 1.2.3-01"},
		"tied":              {"packageName: argocd-operator"},
		"one-of-the-tied":   {"packageName: argocd-operator", byName("community")},
		"deprecated":        {"packageName: argocd-operator", byName("community"), "channels: [alpha]"},
		"undecided":         {"packageName: unborn-operator"},
		"absent-package":    {"packageName: kiln-operater", byName("a")},
		"no-catalog":        {"packageName: kiln-operator", byName("nosuch")},
		"unreadable-labels": {"packageName: kiln-operator", "selector: {matchExpressions: [{key: a, operator: Foo}]}"},
		"upgrade":           {"packageName: kiln-operator", byName("a")},
		"no-edge":           {"packageName: kiln-operator", byName("a"), "version: 1.2.0"},
		"downgrade":         {"packageName: kiln-operator", byName("a"), "version: 1.0.0", "upgradeConstraintPolicy: SelfCertified"},
	}
	installed := map[string]string{"upgrade": "1.0.0", "no-edge": "1.0.0", "downgrade": "1.0.1"}
	names := slices.Sorted(maps.Keys(corpus))
	for _, name := range names {
		if version := installed[name]; version != "" {
			w.apply(annotated(name, "{olmgate.dev/bypass: parity}", "packageName: kiln-operator", byName("b")), "--server-side")
			w.installed(name, "kiln-operator.v"+version, version)
		}
		w.apply(annotated(name, "{olmgate.dev/bypass: parity}", corpus[name]...), "--server-side", "--force-conflicts")
	}

	out, _, _ := w.verb(append([]string{"resolve", "-o", "json"}, names...)...)
	var list struct {
		Items []struct {
			Extension, Outcome, Reason, Catalog string
			Bundle                              struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]int{}
	for _, v := range list.Items {
		want := said{v.Outcome, v.Reason, v.Catalog, v.Bundle.Name}
		outcomes[v.Outcome]++
		w.eventually(func() error { // the log has it a moment after the answer
			_, audit := w.audited(v.Extension)
			if got := (said{audit["outcome"], audit["reason"], audit["catalog"], audit["bundle"]}); got != want {
				return fmt.Errorf("%s: the webhook says %+v, olmgate resolve %+v", v.Extension, got, want)
			}
			return nil
		})
		w.eventually(func() error {
			got, err := w.condition(v.Extension)
			if err == nil && got.reason != want.reason || got.outcome != want.outcome || got.bundle != want.bundle || want.bundle != "" && got.catalog != want.catalog {
				err = fmt.Errorf("%s: the condition says %+v, olmgate resolve %+v", v.Extension, got, want)
			}
			return err
		})
	}
	if outcomes["Resolved"] < 5 || outcomes["Failed"] < 5 || outcomes["Undecided"] == 0 {
		t.Errorf("the corpus is too plain: %v", outcomes)
	}
}

// statusWriter runs the status writer beside the webhook, until the test ends.
func (w *world) statusWriter() {
	w.Helper()
	overlay, err := gate.Manifests()
	if err != nil {
		w.Fatal(err)
	}
	for _, file := range []string{"serviceaccount", "rbac", "deployment"} {
		w.kubectl("apply", "--server-side", "-f", filepath.Join(filepath.Dir(filepath.Dir(overlay)), "components", "status-writer", file+".yaml"))
	}
	g, err := gate.StartWriter(w.ctx(), w.Cluster, gate.Options{Name: "status-writer", IP: "10.200.0.10", Args: []string{"--catalogd-allowed-hosts=" + cluster.CatalogdHost}})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { g.Process.Terminate(20 * time.Second) })
}

// condition is what olmgate.dev/Resolved says. Its message names the bundle and the catalog.
func (w *world) condition(extension string) (said, error) {
	w.Helper()
	const jsonpath = `jsonpath={range .status.conditions[?(@.type=="olmgate.dev/Resolved")]}{.status}|{.reason}|{.message}{end}`
	parts := strings.SplitN(w.kubectl("get", "clusterextension", extension, "-o", jsonpath).out, "|", 3)
	if len(parts) < 3 {
		return said{}, fmt.Errorf("%s has no condition olmgate.dev/Resolved", extension)
	}
	s := said{outcome: map[string]string{"True": "Resolved", "False": "Failed", "Unknown": "Undecided"}[parts[0]], reason: parts[1]}
	if parts[0] == "True" {
		bundle, rest, _ := strings.Cut(parts[2], " from catalog ")
		s.bundle = bundle
		s.catalog, _, _ = strings.Cut(rest, " ")
	}
	return s, nil
}
