package resolver_test

import (
	"testing"

	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/resolver/casetest"
)

func TestCases(t *testing.T) {
	cases, err := casetest.Load("testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			inputs, err := c.Inputs()
			if err != nil {
				t.Fatal(err)
			}
			v := resolver.Resolve(c.ClusterExtension(), inputs, c.Rule)
			for _, w := range c.Check(v) {
				t.Error(w)
			}
			t.Logf("%s", casetest.Text(v))
		})
	}
}
