package main

// A scene is one command and what the API server should say to it.
type scene struct {
	title string
	// manifest is applied; or args are passed to kubectl.
	manifest string
	args     []string
	// denied says whether olmgate should refuse it.
	denied bool
	// contains lists what the answer must mention.
	contains []string
	// eventually: what came before takes effect in a moment, so try again.
	eventually bool
}

// extension is a ClusterExtension with the given fields of spec.source.catalog.
func extension(name, catalog string) string {
	return `apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata:
  name: ` + name + `
spec:
  namespace: default
  source:
    sourceType: Catalog
    catalog:
` + catalog
}

var scenes = []scene{
	{
		title: "A package and a version that exist",
		manifest: extension("kiln", `      packageName: kiln-operator
      version: 1.2.0
`),
		contains: []string{"kiln"},
	},
	{
		title: "A typing error in the name of the package",
		manifest: extension("kiln-typo", `      packageName: kiln-operater
`),
		denied:   true,
		contains: []string{"kiln-operater", "kiln-operator"},
	},
	{
		title: "A version that no catalog has",
		manifest: extension("kiln-nine", `      packageName: kiln-operator
      version: 9.9.9
`),
		denied:   true,
		contains: []string{"9.9.9"},
	},
	{
		title: "A channel that does not exist",
		manifest: extension("beacon", `      packageName: beacon-operator
      channels: [stabel]
`),
		denied:   true,
		contains: []string{"stabel", "stable"},
	},
	{
		title: "A package in two catalogs of the same priority",
		manifest: extension("argocd", `      packageName: argocd-operator
`),
		denied:   true,
		contains: []string{"community", "operatorhubio"},
	},
	{
		title: "The same with a selector, as olmgate suggests",
		manifest: extension("argocd", `      packageName: argocd-operator
      selector:
        matchLabels:
          olm.operatorframework.io/metadata.name: operatorhubio
`),
		contains: []string{"argocd"},
	},
	{
		title: "A deprecated channel: admitted, with a warning",
		manifest: extension("argocd-alpha", `      packageName: argocd-operator
      channels: [alpha]
      selector:
        matchLabels:
          olm.operatorframework.io/metadata.name: community
`),
		contains: []string{"Warning", "use stable"},
	},
	{
		title:    "Instead of selectors: a priority for one of the catalogs",
		args:     []string{"patch", "clustercatalog", "operatorhubio", "--type=merge", `--patch={"spec":{"priority":10}}`},
		contains: []string{"patched"},
	},
	{
		title: "Now the package without a selector is no longer ambiguous",
		manifest: extension("argocd-by-priority", `      packageName: argocd-operator
`),
		contains:   []string{"argocd-by-priority"},
		eventually: true,
	},
}
