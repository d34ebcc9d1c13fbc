// Package schematest validates reports in SARIF against the schema of OASIS. It is a module of its own, so that neither
// the validator nor the module that brings the schema becomes a dependency of olmgate.
package schematest
