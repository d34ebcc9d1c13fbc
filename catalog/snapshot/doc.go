// Package snapshot is the file format for all catalogs of a cluster at one moment: what is known of each ClusterCatalog,
// and the index of its content. 345 MB of File-Based Catalogs make a file of 0.7 MB.
//
// A file is
//
//	olmgate-snapshot-1
//	SIZE bytes, sha256:HEX
//	{"created": ..., "catalogs": [{"name": ..., "content": {"bytes": N, ...}}, ...]}
//
// and behind it, one after the other, the indexes of those catalogs that have a content, each as catalog.Index.Encode
// writes it and N bytes long. SIZE and the checksum are of everything behind the second line. Equal snapshots are equal
// files.
//
// A file is hostile input: Decode bounds what it takes, and refuses all of a file in which anything is wrong.
package snapshot
