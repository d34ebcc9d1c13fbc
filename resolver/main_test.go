package resolver_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain raises the number of worlds that a property is tried on; -rapid.checks has the last word.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		if err := f.Value.Set("500"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
