package store

import "testing"

// The same trouble has the same words at every try.
func TestReasonsAreSteady(t *testing.T) {
	for in, want := range map[string]string{
		"read tcp 10.1.2.3:43210->10.96.0.7:443: connection reset by peer":                        "read tcp 10.96.0.7:443: connection reset by peer",
		"read udp [fd00::1]:41234->[fd00::a]:53: i/o timeout":                                     "read udp [fd00::a]:53: i/o timeout",
		"certificate has expired or is not yet valid: current time 2026-11-30T20:00:00Z is after": "certificate has expired or is not yet valid: current time is after",
		"dial tcp 10.96.0.7:443: connect: connection refused":                                     "dial tcp 10.96.0.7:443: connect: connection refused",
	} {
		if got := shorten(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
