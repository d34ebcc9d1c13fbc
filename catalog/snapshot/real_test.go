package snapshot_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/snapshot"
	"github.com/olmgate/olmgate/catalog/source"
	"github.com/olmgate/olmgate/resolver"
)

// TestRealCatalogsFitAndResolveAlike puts the four largest real catalogs, 345 MB, into a snapshot of less than 8 MB,
// and compares the verdicts for every package: each installation from every catalog and from all of them, and each
// upgrade of the oldest bundle, by both rules.
func TestRealCatalogsFitAndResolveAlike(t *testing.T) {
	s := &snapshot.Snapshot{CreatedBy: "test"}
	var before []resolver.Catalog
	for i, name := range []string{"certified-all", "community", "community-v4.20", "operatorhubio"} {
		dir := os.Getenv("OLMGATE_CATALOGS")
		if dir == "" {
			dir = filepath.Join("..", "..", "..", "shared", "catalogs")
		}
		file := filepath.Join(dir, name+".jsonl.zst")
		if _, err := os.Stat(file); err != nil {
			t.Skipf("real catalogs are not here (set OLMGATE_CATALOGS to their folder): %v", err)
		}
		x, err := source.LoadPath(file, catalog.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		labels := map[string]string{"olm.operatorframework.io/metadata.name": name}
		s.Catalogs = append(s.Catalogs, snapshot.Catalog{Name: name, Labels: labels, Priority: int32(i % 2), Serving: true, Index: x})
		before = append(before, resolver.Catalog{Name: name, Labels: labels, Priority: int32(i % 2), Serving: true, Content: catalog.Content{Index: x}})
	}
	file := filepath.Join(t.TempDir(), "catalogs.olmgate")
	if err := snapshot.WriteFile(file, s); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	const most = 8_000_000
	if info.Size() > most {
		t.Errorf("the snapshot has %d bytes, more than %d", info.Size(), most)
	}
	found, err := source.OpenSnapshot(file, catalog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var after []resolver.Catalog
	for _, o := range found {
		after = append(after, resolver.NewOfflineCatalog(o.Catalog, *o.Content))
	}
	verdicts := 0
	for _, ext := range extensions(before) {
		for _, rule := range []resolver.Rule{resolver.RulePackage, resolver.RuleBundle} {
			want, got := text(t, resolver.Resolve(ext, before, rule)), text(t, resolver.Resolve(ext, after, rule))
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: got\n%s\nwant\n%s", ext.Name, got, want)
			}
			verdicts++
		}
	}
	t.Logf("%d bytes, %d verdicts alike", info.Size(), verdicts)
}

func text(t *testing.T, v resolver.Verdict) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// extensions ask for every package of the catalogs.
func extensions(catalogs []resolver.Catalog) []*ocv1.ClusterExtension {
	var list []*ocv1.ClusterExtension
	add := func(pkg, from string, installed *catalog.Bundle) {
		filter := &ocv1.CatalogFilter{PackageName: pkg}
		if from != "" {
			filter.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{ocv1.MetadataNameLabel: from}}
		}
		ext := &ocv1.ClusterExtension{
			TypeMeta:   metav1.TypeMeta{APIVersion: ocv1.GroupVersion.String(), Kind: ocv1.ClusterExtensionKind},
			ObjectMeta: metav1.ObjectMeta{Name: pkg},
			Spec:       ocv1.ClusterExtensionSpec{Source: ocv1.SourceConfig{SourceType: ocv1.SourceTypeCatalog, Catalog: filter}},
		}
		if installed != nil {
			ext.Status.Install = &ocv1.ClusterExtensionInstallStatus{Bundle: ocv1.BundleMetadata{Name: installed.Name, Version: installed.Version.String()}}
		}
		list = append(list, ext)
	}
	var names []string
	for i := range catalogs {
		for _, p := range catalogs[i].Content.Index.Packages() {
			names = append(names, p.Name)
			add(p.Name, catalogs[i].Name, nil)
			if len(p.Bundles) > 0 {
				oldest := slices.MinFunc(p.Bundles, func(a, b catalog.Bundle) int { return a.Version.Compare(b.Version) })
				add(p.Name, catalogs[i].Name, &oldest)
			}
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		add(name, "", nil)
	}
	return list
}
