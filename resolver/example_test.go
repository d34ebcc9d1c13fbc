package resolver_test

import (
	"fmt"
	"log"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/resolver"
)

// kilnCatalog is a catalog that holds one package with two versions.
func kilnCatalog(name string, priority int32) resolver.Catalog {
	index, err := catalog.Read(strings.NewReader(`
{"schema":"olm.package","name":"kiln-operator","defaultChannel":"stable"}
{"schema":"olm.channel","package":"kiln-operator","name":"stable","entries":[{"name":"kiln-operator.v1.0.0"},{"name":"kiln-operator.v1.1.0","replaces":"kiln-operator.v1.0.0"}]}
{"schema":"olm.bundle","package":"kiln-operator","name":"kiln-operator.v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"kiln-operator","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"kiln-operator","name":"kiln-operator.v1.1.0","properties":[{"type":"olm.package","value":{"packageName":"kiln-operator","version":"1.1.0"}}]}
`), catalog.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	return resolver.Catalog{Name: name, Priority: priority, Serving: true, Content: catalog.Content{Index: index}}
}

func kilnExtension(version string) *ocv1.ClusterExtension {
	ext := &ocv1.ClusterExtension{}
	ext.Name = "kiln"
	ext.Spec.Source = ocv1.SourceConfig{
		SourceType: ocv1.SourceTypeCatalog,
		Catalog:    &ocv1.CatalogFilter{PackageName: "kiln-operator", Version: version},
	}
	return ext
}

func ExampleResolve() {
	catalogs := []resolver.Catalog{kilnCatalog("hub", 0), kilnCatalog("mirror", 10)}
	v := resolver.Resolve(kilnExtension("1.x"), catalogs, resolver.RulePackage)
	fmt.Println(v.Outcome, v.Catalog, v.Bundle.Version)
	// Output: Resolved mirror 1.1.0
}

func ExampleResolve_failed() {
	v := resolver.Resolve(kilnExtension("2.x"), []resolver.Catalog{kilnCatalog("hub", 0)}, resolver.RulePackage)
	fmt.Println(v.Outcome, v.Reason, v.Field)
	for _, s := range v.Suggestions {
		fmt.Printf("%s = %s\n", s.Field, s.Value)
	}
	// Output:
	// Failed NoMatchingVersion spec.source.catalog.version
	// spec.source.catalog.version = "1.1.0"
}

func ExampleResolve_undecided() {
	missing := resolver.Catalog{Name: "mirror", Priority: 10, Serving: true, Content: catalog.Content{Problem: "it is being unpacked"}}
	v := resolver.Resolve(kilnExtension(""), []resolver.Catalog{kilnCatalog("hub", 0), missing}, resolver.RulePackage)
	fmt.Println(v.Outcome, v.Reason)
	for _, c := range v.Trace.Catalogs {
		fmt.Printf("%s: %d bundles, %q\n", c.Name, c.Bundles, c.Why)
	}
	// Output:
	// Undecided CatalogContentUnavailable
	// mirror: 0 bundles, "its content is not at hand: it is being unpacked"
	// hub: 2 bundles, ""
}
