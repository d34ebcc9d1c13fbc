// Package source says where the content of catalogs comes from and brings it: from catalogd inside a cluster, from
// catalogd through the API server or a port-forward, and from files and directories when there is no cluster.
//
// Content is read as it arrives; a catalog of 70 MB is never in memory as a whole. Everything that arrives is taken for
// hostile: the address is checked before it is called, redirects are refused, sizes and times are bounded, and content
// that was cut short is an error, never a smaller catalog.
//
//	fetcher, err := source.NewHTTP(source.HTTPOptions{CA: []string{"/etc/olmgate/ca"}})
//	if err != nil { ... }
//	index, err := fetcher.Fetch(ctx, clusterCatalog)
//
// A failed fetch says by PaceOf how soon another try makes sense.
package source
