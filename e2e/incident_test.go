package e2e_test

import (
	"strings"
	"testing"
)

// broken adds an extension and takes its package away, so that its source does not resolve any more.
func (w *world) broken(name string) {
	w.Helper()
	w.sample(0, "a")
	w.catalog(operator("mill-operator", "1.0.0"), 0, "mills")
	w.apply(extension(name, "packageName: mill-operator")).admitted()
	w.kubectl("delete", "clustercatalog", "mills")
	w.try(extension("other", "packageName: mill-operator")).denied("PackageNotFound")
}

func TestEverythingButTheSourceStaysEditable(t *testing.T) {
	w := gated(t)
	w.broken("mill")
	patch := func(body string) answer {
		t.Helper()
		return w.kubectl("patch", "clusterextension", "mill", "--type=merge", "--patch="+body)
	}
	for _, body := range []string{
		`{"spec":{"install":{"preflight":{"crdUpgradeSafety":{"enforcement":"None"}}}}}`,
		`{"metadata":{"labels":{"tier":"gold"}}}`,
		`{"metadata":{"annotations":{"example.com/owner":"potters"}}}`,
		`{"metadata":{"finalizers":["example.com/wait"]}}`,
		`{"metadata":{"finalizers":[]}}`,
		`{"spec":{"source":{"catalog":{"upgradeConstraintPolicy":"CatalogProvided"}}}}`, // what it is already
	} {
		patch(body).admitted()
	}
	w.kubectl("patch", "clusterextension", "mill", "--subresource=status", "--type=merge",
		`--patch={"status":{"install":{"bundle":{"name":"mill-operator.v1.0.0","version":"1.0.0"}}}}`).admitted()
	patch(`{"spec":{"source":{"catalog":{"version":"2.0.0"}}}}`).denied("PackageNotFound")
}

func TestDeletionAlwaysWorks(t *testing.T) {
	w := gated(t)
	w.broken("mill")
	w.kubectl("patch", "clusterextension", "mill", "--type=merge", `--patch={"metadata":{"finalizers":["example.com/wait","example.com/more"]}}`).admitted()
	w.kubectl("delete", "clusterextension", "mill", "--wait=false").admitted()
	// While it is being deleted finalizers come off, even with a source that is edited too.
	w.kubectl("patch", "clusterextension", "mill", "--type=merge", `--patch={"metadata":{"finalizers":["example.com/wait"]},"spec":{"source":{"catalog":{"version":"2.0.0"}}}}`).admitted()
	w.kubectl("patch", "clusterextension", "mill", "--type=merge", `--patch={"metadata":{"finalizers":[]}}`).admitted()
	w.kubectl("wait", "--for=delete", "--timeout=10s", "clusterextension/mill").admitted()

	w.apply(extension("kiln", "packageName: kiln-operator")).admitted()
	w.kubectl("delete", "clusterextension", "kiln").admitted()
}

func TestWhatTheCRDLetsThroughAndNobodyCanReadIsDenied(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	const pkg = "packageName: kiln-operator"
	for name, tc := range map[string]struct {
		manifest string
		reason   string
		says     []string
	}{
		"no-spec": {
			"apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {name: no-spec}\n",
			"MissingCatalogSource", []string{"the extension has no spec.source.catalog"},
		},
		"operator": {
			extension("operator", pkg, "selector: {matchExpressions: [{key: tier, operator: Foo, values: [gold]}]}"),
			"InvalidSelector", []string{"spec.source.catalog.selector.matchExpressions[0].operator", `"Foo" is not an operator; use In, NotIn, Exists or DoesNotExist`},
		},
		"values": {
			extension("values", pkg, "selector: {matchExpressions: [{key: tier, operator: In}]}"),
			"InvalidSelector", []string{"spec.source.catalog.selector.matchExpressions[0].values", "operator In needs values"},
		},
		"key": {
			extension("key", pkg, `selector: {matchLabels: {"not a key": gold}}`),
			"InvalidSelector", []string{"spec.source.catalog.selector.matchLabels[not a key]"},
		},
		"version": {
			extension("version", pkg, "version: 1.2.3-01"),
			"InvalidVersionRange", []string{`spec.source.catalog.version "1.2.3-01" cannot be read as a version range`},
		},
		"alternatives": {
			extension("alternatives", pkg, `version: ">=|"`),
			"InvalidVersionRange", []string{`spec.source.catalog.version ">=|" cannot be read as a version range`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{Cluster: w.Cluster, T: t, gate: w.gate}
			w.apply(tc.manifest).denied(tc.reason, tc.says...)
		})
	}

	w.apply(extension("kiln", pkg)).admitted()
	w.kubectl("patch", "clusterextension", "kiln", "--type=json", `--patch=[{"op":"remove","path":"/spec"}]`).denied("MissingCatalogSource")
	if left := w.kubectl("get", "clusterextension", "kiln", "-o", "jsonpath={.spec.source.catalog}"); !strings.Contains(left.out, "kiln-operator") {
		t.Errorf("the spec is gone: %s", left.out)
	}
}
