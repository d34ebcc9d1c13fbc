package resolver_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/resolver"
)

// bigFour are the real catalogs that are looked at together.
var bigFour = []string{"operatorhubio", "community", "certified", "rhmp"}

// realFile opens a real catalog, or skips the test when the folder is absent.
func realFile(t testing.TB, name string) *os.File {
	t.Helper()
	dir := os.Getenv("OLMGATE_CATALOGS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "catalogs")
	}
	f, err := os.Open(filepath.Join(dir, name+".jsonl.zst"))
	if err != nil {
		t.Skipf("real catalogs are not here (set OLMGATE_CATALOGS to their folder): %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func realCatalogs(t testing.TB) []resolver.Catalog {
	t.Helper()
	var list []resolver.Catalog
	for _, name := range bigFour {
		index, err := catalog.Read(realFile(t, name), catalog.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, resolver.Catalog{Name: name, Serving: true, Content: catalog.Content{Index: index}})
	}
	return list
}

// holdersByHand finds the catalogs that hold each package, with encoding/json alone.
func holdersByHand(t testing.TB) map[string][]string {
	t.Helper()
	holders := map[string][]string{}
	for _, name := range bigFour {
		z, err := zstd.NewReader(realFile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		here := map[string]bool{}
		for dec := json.NewDecoder(z); ; {
			var blob struct{ Schema, Name, Package string }
			if err := dec.Decode(&blob); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			switch blob.Schema {
			case "olm.package":
				here[blob.Name] = true
			case "olm.channel", "olm.bundle":
				here[blob.Package] = true
			}
		}
		for p := range here {
			holders[p] = append(holders[p], name)
		}
	}
	return holders
}

func extensionFor(pkg string) *ocv1.ClusterExtension {
	return world{Ext: worldExtension{Package: pkg}}.extension()
}

func TestEveryRealPackageOfSeveralCatalogsIsAmbiguous(t *testing.T) {
	holders, catalogs := holdersByHand(t), realCatalogs(t)
	ambiguous := 0
	for pkg, names := range holders {
		v := resolver.Resolve(extensionFor(pkg), catalogs, resolver.RulePackage)
		if len(names) == 1 {
			if v.Outcome != resolver.OutcomeResolved || v.Catalog != names[0] {
				t.Errorf("%s is in %s alone: %s %s from %q", pkg, names[0], v.Outcome, v.Reason, v.Catalog)
			}
			continue
		}
		ambiguous++
		var tied []string
		for _, c := range v.Ambiguous {
			tied = append(tied, c.Name)
		}
		slices.Sort(names)
		slices.Sort(tied)
		if v.Reason != resolver.AmbiguousCatalogs || !slices.Equal(tied, names) {
			t.Errorf("%s is in %v: %s %s of %v", pkg, names, v.Outcome, v.Reason, tied)
		}
	}
	if len(holders) != 807 || ambiguous != 220 {
		t.Errorf("%d packages, %d of them in several catalogs, want 807 and 220", len(holders), ambiguous)
	}
}

// BenchmarkResolveRealPackages resolves each package of the four catalogs in turn, and reports the median and the 99th
// percentile over the packages, each the median of its runs.
func BenchmarkResolveRealPackages(b *testing.B) {
	catalogs := realCatalogs(b)
	seen := map[string]bool{}
	var exts []*ocv1.ClusterExtension
	for _, c := range catalogs {
		for _, p := range c.Content.Index.Packages() {
			if p.Contained() && !seen[p.Name] {
				seen[p.Name] = true
				exts = append(exts, extensionFor(p.Name))
			}
		}
	}
	const runs = 21
	for b.Loop() {
		times := make([]time.Duration, len(exts))
		for i, ext := range exts {
			var each []time.Duration
			for range runs {
				began := time.Now()
				resolver.Resolve(ext, catalogs, resolver.RulePackage)
				each = append(each, time.Since(began))
			}
			slices.Sort(each)
			times[i] = each[runs/2]
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "µs-median")
		b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1e3, "µs-p99")
		b.ReportMetric(float64(times[len(times)-1].Nanoseconds())/1e3, "µs-max")
	}
}
