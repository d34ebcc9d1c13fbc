package main

import (
	"context"
	"runtime"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/resolver"
)

const resolveRounds = 9

// resolve measures the answer for every package of the four catalogs, once with a selector that picks a catalog and
// once without. Each answer holds both rules and the trace. The time of a package is the median of its rounds.
func (b *bench) resolve(context.Context) error {
	var catalogs []resolver.Catalog
	for _, name := range bigFour {
		text, err := readCatalog(b.path(name))
		if err != nil {
			return err
		}
		index, err := loaders["olmgate"](text)
		if err != nil {
			return err
		}
		catalogs = append(catalogs, resolver.Catalog{Name: name, Serving: true, Content: catalog.Content{Index: index.(*catalog.Index)}})
	}
	var extensions []*ocv1.ClusterExtension
	for i := range catalogs {
		for _, p := range catalogs[i].Content.Index.Packages() {
			extensions = append(extensions, newExtension(p.Name, ""), newExtension(p.Name, catalogs[i].Name))
		}
	}
	runtime.GC()
	times := make([][]float64, len(extensions))
	for range resolveRounds {
		for i, ext := range extensions {
			start := time.Now()
			v := resolver.Resolve(ext, catalogs, resolver.RulePackage)
			times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/1e3)
			runtime.KeepAlive(v)
		}
	}
	var all []float64
	for _, t := range times {
		all = append(all, median(t))
	}
	m, p99 := median(all), quantile(all, 0.99)
	b.alone("resolve, every package of four catalogs: median", m, "µs", "<= 20", m <= 20)
	b.alone("resolve, every package of four catalogs: p99", p99, "µs", "<= 200", p99 <= 200)
	return nil
}

// newExtension asks for a package, from one catalog unless that is "".
func newExtension(pkg, from string) *ocv1.ClusterExtension {
	filter := &ocv1.CatalogFilter{PackageName: pkg}
	if from != "" {
		filter.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{ocv1.MetadataNameLabel: from}}
	}
	return &ocv1.ClusterExtension{
		TypeMeta:   metav1.TypeMeta{APIVersion: ocv1.GroupVersion.String(), Kind: ocv1.ClusterExtensionKind},
		ObjectMeta: metav1.ObjectMeta{Name: pkg},
		Spec:       ocv1.ClusterExtensionSpec{Namespace: "bench", Source: ocv1.SourceConfig{SourceType: ocv1.SourceTypeCatalog, Catalog: filter}},
	}
}
