// Package store knows which content is current for which ClusterCatalog. It watches ClusterCatalogs, loads what their
// status names in the background, and answers from memory.
//
//	s := store.New(store.Options{Fetcher: fetcher, CacheDir: "/var/cache/olmgate"})
//	if err := s.SetupWithManager(mgr); err != nil { ... }
//	...
//	content := s.Content(clusterCatalog) // memory only
//
// Content belongs to a ClusterCatalog by its name, its UID and the image that its status resolved to, which has a
// digest. Dates play no part: catalogd's Last-Modified changes with each poll and not always with the content.
//
//   - A newer revision is loaded beside the old one, which answers as outdated until the new one takes its place in one
//     step. While loading fails, the old one stays.
//   - A catalog that was deleted and created again under the same name never gets the content of its predecessor.
//   - A catalog that is made Unavailable keeps its content: it takes part in no resolution then, about 1 MB is a small
//     price, and the content is there at once when the catalog comes back with the same digest.
//   - Nothing is loaded for a catalog that is not serving, is Unavailable or is being deleted.
package store
