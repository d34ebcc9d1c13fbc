// Package catalog holds the content of one OLM catalog as an immutable index, and the reader that builds it from a
// File-Based Catalog (FBC).
//
// A catalog of 70 MB becomes an index of about one: packages, channels, upgrade edges, bundle names, versions,
// releases, images, deprecations, install modes and the properties that express dependencies are kept; descriptions,
// icons and embedded manifests are checked to be well-formed and dropped while reading. What a reader holds in memory
// is the index and one blob, never the file.
//
//	index, err := catalog.Read(file, catalog.Limits{})
//	if err != nil { ... }
//	if pkg := index.Package("argocd-operator"); pkg != nil {
//		for i := range pkg.Bundles { fmt.Println(pkg.Bundles[i].Name, pkg.Bundles[i].Version) }
//	}
//
// An Index is safe for use by many goroutines. Its exported slices are shared and must not be modified.
package catalog
