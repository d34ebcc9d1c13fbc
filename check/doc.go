// Package check is the engine of olmgate check: it finds ClusterExtensions and ClusterCatalogs in files, validates them
// against the schema of their CRDs, resolves each extension, compares with a base, and says where in which file
// something is wrong. It writes nothing; package report does.
package check
