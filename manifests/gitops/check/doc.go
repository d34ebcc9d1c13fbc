// Package check holds what runs olmgate check in pipelines, for its tests.
package check
