// Package diff compares two catalogs: which packages, channels, bundles and deprecations came, went, or are another
// under the same name.
//
//	for _, p := range diff.Indexes(before, after) { fmt.Println(p.Change, p.Name) }
package diff
