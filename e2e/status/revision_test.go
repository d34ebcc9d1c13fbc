package status

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/e2e/tools"
	"github.com/olmgate/olmgate/status"
)

const revisionExtensions = 300

// revisions are the files of two revisions of one catalog: real ones, or, where those are not, generated ones.
func revisions(t *testing.T) (before, after string) {
	t.Helper()
	dir := os.Getenv("OLMGATE_CATALOGS")
	if dir == "" {
		root, err := tools.ModuleRoot()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(root, "..", "shared", "catalogs")
	}
	before, after = filepath.Join(dir, "community-v4.20.jsonl.zst"), filepath.Join(dir, "community.jsonl.zst")
	if _, err := os.Stat(before); err == nil {
		return before, after
	}
	t.Logf("real catalogs are not here (set OLMGATE_CATALOGS to their folder), so generated ones take their place")
	dir = t.TempDir()
	before, after = filepath.Join(dir, "before.jsonl"), filepath.Join(dir, "after.jsonl")
	var old, now []byte
	for i := range 200 {
		pkg := fmt.Sprintf("operator-%d", i)
		versions := []string{"0.1.0", "0.2.0", "1.0.0"}
		old = append(old, chain(pkg, versions...)...)
		switch i % 4 {
		case 0:
			now = append(now, chain(pkg, versions...)...)
		case 1:
			now = append(now, chain(pkg, append(versions, "1.1.0")...)...)
		case 2:
			now = append(now, chain(pkg, "1.0.0", "2.0.0")...)
		}
	}
	for file, content := range map[string][]byte{before: old, after: now} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return before, after
}

// pushRevision has the catalog community serve a file, by an image of its own.
func (w *world) pushRevision(image, file string) {
	w.Helper()
	ref, err := w.PushCatalogFile(w.ctx(), image, file)
	if err != nil {
		w.Fatal(err)
	}
	if err := w.ApplyCatalog(w.ctx(), "community", ref, 0, nil); err != nil {
		w.Fatal(err)
	}
}

// A catalog's content changes from one real revision to another. Every condition ends right, and nothing is written that
// did not change.
func TestACatalogGetsNewContent(t *testing.T) {
	w := newWorld(t)
	before, after := revisions(t)
	packages := packagesOf(t, before)
	w.pushRevision("community-before", before)
	if err := w.WaitServing(w.ctx(), "community"); err != nil {
		t.Fatal(err)
	}
	first := w.kubectl("get", "clustercatalog", "community", "-o", "jsonpath={.status.resolvedSource.image.ref}")
	for i := range revisionExtensions {
		w.addOneOf(packages[i%len(packages)], i)
	}
	writer := w.writer("status-writer", firstAddress, "--status-write-rate=200")
	w.settled()
	if n := w.metric(writer, writesSeries); n != revisionExtensions {
		t.Errorf("%v writes of %d extensions that had no conditions", n, revisionExtensions)
	}

	old := w.extensions()
	writesBefore := w.metric(writer, writesSeries)
	w.pushRevision("community-after", after)
	w.eventually(func(context.Context) error {
		if now := w.kubectl("get", "clustercatalog", "community", "-o", "jsonpath={.status.resolvedSource.image.ref}"); now == first {
			return fmt.Errorf("catalogd still serves %s", now)
		}
		return nil
	})
	w.settled()
	wrong := w.misfits()
	for _, err := range wrong {
		t.Error(err)
	}
	writes := int(w.metric(writer, writesSeries) - writesBefore)
	changed := 0
	for name, ext := range w.extensions() {
		if !sameConditions(old[name], ext) {
			changed++
		}
	}
	summary = fmt.Sprintf("extensions=%d wrong=%d writes=%d changed=%d", len(old), len(wrong), writes, changed)
	if writes != changed || changed == 0 || len(old) != revisionExtensions {
		t.Error(summary)
	}
	if n := w.metric(writer, `olmgate_status_writes_total{result="error"}`); n > 0 {
		t.Errorf("%v writes failed", n)
	}
}

// packagesOf are the packages of a catalog that have a usable version.
func packagesOf(t *testing.T, path string) []catalog.Package {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	index, err := catalog.Read(file, catalog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Clone(index.Packages()), func(p catalog.Package) bool { return len(usable(p)) == 0 })
}

// addOneOf adds an extension of a package, which is asked for in different ways.
func (w *world) addOneOf(pkg catalog.Package, i int) {
	w.Helper()
	versions := usable(pkg)
	oldest, newest := versions[0], versions[len(versions)-1]
	ext := extension(fmt.Sprintf("ext-%03d", i), pkg.Name, "")
	src := ext.Spec.Source.Catalog
	installed := oldest
	switch i % 6 {
	case 0: // nothing asked for, nothing installed
		w.add(ext, "", "")
		return
	case 1: // kept within a major version
		src.Version = fmt.Sprintf(">=%d.0.0 <%d.0.0", oldest.Version.Major, oldest.Version.Major+1)
	case 2: // the default channel, the newest installed
		if allowed(pkg.DefaultChannel) {
			src.Channels = []string{pkg.DefaultChannel}
		}
		installed = newest
	case 3: // a version that is not there
		src.Version = "9999.0.0"
	case 4: // a channel that is not there
		src.Channels = []string{"no-such-channel"}
	case 5: // whatever is newest, edges or not
		src.UpgradeConstraintPolicy = ocv1.UpgradeConstraintPolicySelfCertified
	}
	w.add(ext, installed.Name, installed.Version.String())
}

// usable are the bundles with a version, the oldest first.
func usable(pkg catalog.Package) []catalog.Bundle {
	list := slices.DeleteFunc(slices.Clone(pkg.Bundles), func(b catalog.Bundle) bool { return b.Problem != "" })
	slices.SortStableFunc(list, func(a, b catalog.Bundle) int { return a.Version.Compare(b.Version) })
	return list
}

// allowed reports whether the API takes the name of a channel.
func allowed(channel string) bool {
	return channel != "" && !strings.ContainsFunc(channel, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' })
}

func sameConditions(a, b *ocv1.ClusterExtension) bool {
	for _, name := range []string{status.TypeDeprecated, status.TypeResolved, status.TypeUpdateAvailable} {
		x, y := condition(a, name), condition(b, name)
		if x == nil || y == nil || x.Status != y.Status || x.Reason != y.Reason || x.Message != y.Message || x.ObservedGeneration != y.ObservedGeneration {
			return false
		}
	}
	return true
}
