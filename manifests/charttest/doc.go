// Package charttest tests the Helm chart, the alerts and the dashboard with Helm's and Prometheus' own code. It is a
// module of its own, so that nothing of them becomes a dependency of olmgate.
package charttest
