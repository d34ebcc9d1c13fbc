package e2e_test

import (
	"strings"
	"testing"
)

func TestTwoCatalogsTie(t *testing.T) {
	w := gated(t)
	w.sample(0, "community", "operatorhubio")
	tied := w.apply(extension("argocd", "packageName: argocd-operator")).denied("AmbiguousCatalogs",
		`package "argocd-operator" is in 2 catalogs at priority 0: community (newest 0.15.0), operatorhubio (newest 0.15.0).`)

	pasted := 0
	for line := range strings.Lines(tied.errs) {
		if _, selector, found := strings.Cut(line, "set spec.source.catalog."); found {
			pasted++
			w.try(extension("argocd", "packageName: argocd-operator", strings.TrimSpace(selector))).admitted()
		}
	}
	if pasted != 2 {
		t.Errorf("%d suggestions to paste, want one for each catalog", pasted)
	}

	w.kubectl("patch", "clustercatalog", "operatorhubio", "--type=merge", `--patch={"spec":{"priority":10}}`)
	w.apply(extension("argocd", "packageName: argocd-operator")).admitted()

	w.kubectl("label", "clustercatalog", "community", "tier=gold")
	gold := extension("gold", "packageName: argocd-operator", "channels: [alpha]", "selector: {matchExpressions: [{key: tier, operator: In, values: [gold, silver]}]}")
	w.trySays(gold, "is deprecated in community")
	w.apply(gold).warned("ChannelDeprecated")
}

func TestCatalogThatIsNotServedYetIsAWarning(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	w.apply(clusterCatalog("unborn", "10.200.0.4:5000/unborn:latest"))
	// Anything that the catalog could change is a warning: a package that nobody has, and one that would tie.
	for _, pkg := range []string{"unborn-operator", "kiln-operator"} {
		w.apply(extension(pkg, "packageName: "+pkg)).
			warned("CatalogContentUnavailable", "unborn (priority 0)", "it has not been unpacked yet")
	}
	// catalogd's own words, once it has some.
	w.trySays(extension("later", "packageName: unborn-operator"), "(Retrying: source catalog content: ")
	// What it cannot change is still denied: a version that the holder of the package lacks fails alone and in a tie.
	w.apply(extension("nine", "packageName: kiln-operator", "version: 9.9.9")).
		denied("NoMatchingVersion").warnedBeside("CatalogContentUnavailable")
	// Neither is one that it is not asked about.
	w.apply(extension("selected", "packageName: unborn-operator", "selector: {matchLabels: {olm.operatorframework.io/metadata.name: a}}")).
		denied("PackageNotFound")

	if _, err := w.PushCatalog(w.ctx(), "unborn", operator("unborn-operator", "1.0.0")); err != nil {
		t.Fatal(err)
	}
	w.kubectl("label", "clustercatalog", "unborn", "tried=again") // or catalogd waits ever longer
	w.inState("current", "unborn")
	w.try(extension("born", "packageName: unborn-operator")).admitted()
}

// A dry run stores nothing, so olmgate never hears of the catalog in it.
func TestDryRunOfCatalogAndExtensionTogetherIsNotDenied(t *testing.T) {
	w := gated(t)
	both := func(source ...string) string {
		return "apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\nmetadata: {name: brandnew}\n" +
			"spec: {source: {type: Image, image: {ref: example.com/brandnew:latest}}}\n---\n" + extension("eager", source...)
	}
	const pkg = "packageName: brandnew-operator"
	w.try(both(pkg)).warned("NoCatalogsSelected")

	w.sample(0, "a")
	selected := "selector: {matchLabels: {olm.operatorframework.io/metadata.name: brandnew}}"
	w.try(both(pkg, selected)).warned("NoCatalogsSelected")
	// Of all catalogs that there are, none has the package.
	w.try(both(pkg)).denied("PackageNotFound")
}
