// Package e2e holds the tests that run against a real API server and a real
// catalogd.
//
//	go run ./e2e/tools/build                          # once, about ten minutes
//	OLMGATE_E2E_REQUIRED=1 go test -count=1 ./e2e/...
package e2e
