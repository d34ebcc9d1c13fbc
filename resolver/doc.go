// Package resolver decides what a ClusterExtension resolves to, and explains why.
//
// It is one pure function over its inputs: the extension, what is installed according to its status, and every
// ClusterCatalog with its content. There is no I/O, no clock and no randomness in it, so the same inputs give the same
// answer, byte for byte, in any order of the catalogs.
//
//	index, err := catalog.Read(file, catalog.Limits{})
//	...
//	verdict := resolver.Resolve(extension, []resolver.Catalog{{
//		Name: "community", Serving: true, Content: catalog.Content{Index: index},
//	}}, resolver.RulePackage)
//	fmt.Println(verdict.Outcome, verdict.Reason, verdict.Message)
//
// Where a choice is silent in OLM's documents, the package does what operator-controller does.
package resolver
