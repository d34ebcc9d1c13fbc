package check_test

import (
	"os"
	"strings"
	"testing"

	"github.com/olmgate/olmgate/check/report"
)

// TestEveryRuleHasAPage looks for the headings that the addresses of findings lead to.
func TestEveryRuleHasAPage(t *testing.T) {
	for _, r := range report.Rules() {
		address, anchor, _ := strings.Cut(r.Docs, "#")
		text, err := os.ReadFile("../docs/" + address[strings.LastIndex(address, "/")+1:])
		if err != nil {
			t.Fatal(err)
		}
		if r.Summary == "" || anchor != strings.ToLower(r.Name) || !strings.Contains(string(text), "\n### "+r.Name+"\n") {
			t.Errorf("%s: no heading in %s, or no summary", r.Name, address)
		}
	}
}
