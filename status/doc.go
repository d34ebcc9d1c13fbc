// Package status writes what the resolver says into the status of every ClusterExtension. Admission sees a
// ClusterExtension only while it is written; this package sees what happens later: a catalog gets new content, a
// priority changes, a catalog goes away.
//
// A Writer evaluates an extension whenever something changed that its verdict depends on, compares the conditions that
// follow with those that the extension has, and queues a write when they differ. Writes are server-side apply of
// olmgate's own conditions on the status subresource, and paced, since each makes operator-controller reconcile.
//
// Nothing that is written is ever read back for a verdict, but for the times of transitions, so that no loop can arise.
// ClusterCatalogs are never written to.
package status
