package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/olmgate/olmgate/config"
)

const top = "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {name: x}\n"

// TestHostileInput gives what could take for ever or all memory. Each must end soon, and be told.
func TestHostileInput(t *testing.T) {
	bomb := top + "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'l'; i++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", i-1), 10), ","))
	}
	for name, text := range map[string]string{
		"aliases that multiply":       bomb,
		"an alias of itself":          top + "spec: &a {b: *a}\n",
		"lists that lie deep":         top + "spec: " + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "\n",
		"maps that lie deep":          top + "spec: " + strings.Repeat("{a: ", 9_000) + "1" + strings.Repeat("}", 9_000) + "\n",
		"JSON that lies deep":         `{"kind":"ClusterExtension","a":` + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + "}",
		"more values than are read":   top + "spec: [" + strings.Repeat(",", maxValues+1) + "]\n",
		"a merge of itself":           top + "spec: &a\n  <<: *a\n",
		"text that is too large":      top + "#" + strings.Repeat("x", maxInput),
		"a key that is a mapping":     top + "? {a: b}\n: c\n",
		"unknown fields without end":  top + "spec: {" + strings.Repeat("a: 1, ", 10) + manyKeys(20_000) + "}\n",
		"separators without end":      strings.Repeat("---\nkind: ClusterExtension\n", 50_000),
		"objects that are all wrong":  strings.Repeat("---\n"+top, 5_000),
		"a number beyond all numbers": top + "spec: {namespace: 1e999999, source: 0x" + strings.Repeat("f", 5000) + "}\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.yaml")
			if strings.HasPrefix(text, "{") {
				file = strings.TrimSuffix(file, ".yaml") + ".json"
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			r, err := Run(t.Context(), Options{Config: config.DefaultCheck(), Inputs: Inputs{Paths: []string{file}}})
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			if len(r.Report.Findings) == 0 && r.Nothing == "" {
				t.Error("nothing is said")
			}
			if n := len(r.Report.Findings); n > 50_000 {
				t.Errorf("%d findings", n)
			}
		})
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1, ", i)
	}
	return b.String() + "z: 1"
}
