package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/snapshot"
)

// write puts a snapshot of catalogs into a file.
func writeSnapshot(t *testing.T, name string, catalogs ...snapshot.Catalog) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := snapshot.WriteFile(file, &snapshot.Snapshot{Catalogs: catalogs}); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestASnapshotDescribesItsCatalogs(t *testing.T) {
	x := &catalog.Index{}
	file := writeSnapshot(t, "s.olmgate",
		snapshot.Catalog{Name: "gone", Deleting: true, Unavailable: true},
		snapshot.Catalog{Name: "hub", Labels: map[string]string{"a": "b"}, Priority: 7, Serving: true, Image: "example.com/hub:v1", Resolved: "example.com/hub@sha256:00", Index: x})
	found, err := OpenSnapshot(file, catalog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	gone, hub := found[0], found[1]
	if gone.Catalog.DeletionTimestamp == nil || gone.Catalog.Spec.AvailabilityMode != ocv1.AvailabilityModeUnavailable || gone.Content.Index != nil || gone.Content.Problem == "" || gone.From() != "" {
		t.Errorf("got %+v, %+v", gone, gone.Content)
	}
	image, resolved := ImageOf(hub.Catalog)
	if hub.Catalog.Spec.Priority != 7 || hub.Catalog.Labels["a"] != "b" || image != "example.com/hub:v1" || resolved != "example.com/hub@sha256:00" || hub.Content.Index == nil || hub.From() != file {
		t.Errorf("got %+v, %+v", hub, hub.Content)
	}
	if c := gone.Catalog.Status.Conditions[0]; c.Status != "False" {
		t.Errorf("got %+v", c)
	}
	if _, err := OpenSnapshot(filepath.Join(t.TempDir(), "absent"), catalog.Limits{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestWhatLiesAboveComesFirst(t *testing.T) {
	below := writeSnapshot(t, "old.olmgate",
		snapshot.Catalog{Name: "a", Priority: 1, Image: "example.com/a:v1", Resolved: "example.com/a@sha256:00", Index: &catalog.Index{}},
		snapshot.Catalog{Name: "b", Priority: 2, Index: &catalog.Index{}})
	found, err := OpenSnapshot(below, catalog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	manifest := func(image string) Offline {
		cc := emptyCatalog("a")
		cc.Spec.Priority = 9
		SetImage(cc, image, "")
		return Offline{Catalog: cc, Manifest: "a.yaml"}
	}
	for name, c := range map[string]struct {
		above    Offline
		priority int32
		from     string
		resolved string
		outdated bool
		said     int
	}{
		"content":               {Offline{Catalog: emptyCatalog("a"), Path: "a.jsonl"}, 1, "a.jsonl", "", false, 1},
		"an image":              {Offline{Catalog: emptyCatalog("a"), Image: "example.com/x:v1", ByHand: true}, 1, "oci://example.com/x:v1", "", false, 1},
		"a manifest":            {manifest("example.com/a:v1"), 9, below, "", false, 1},
		"a manifest without":    {manifest(""), 9, below, "", false, 1},
		"one of another image":  {manifest("example.com/a:v2"), 9, below, "", true, 1},
		"a manifest with files": {Offline{Catalog: manifest("").Catalog, Manifest: "a.yaml", Path: "a.jsonl"}, 9, "a.jsonl", "", false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			all, said := Overlay(found, []Offline{c.above, {Catalog: emptyCatalog("c"), Path: "c.jsonl"}})
			if len(all) != 3 || all[1].Catalog.Name != "b" || all[1].Catalog.Spec.Priority != 2 || all[2].Path != "c.jsonl" {
				t.Fatalf("got %+v", all)
			}
			a := all[0]
			_, resolved := ImageOf(a.Catalog)
			if a.Catalog.Spec.Priority != c.priority || a.From() != c.from || resolved != c.resolved || (a.Content != nil && a.Content.Outdated) != c.outdated {
				t.Errorf("got %+v, content %+v", a, a.Content)
			}
			if len(said) != c.said || !strings.Contains(said[0], "catalog a: ") || !strings.Contains(said[0], below) {
				t.Errorf("said %q", said)
			}
			if found[0].Content.Outdated || found[0].Catalog.Status.ResolvedSource == nil {
				t.Error("what lies below was changed")
			}
		})
	}

	// Of two snapshots the later counts whole, even if it has no content.
	other, err := OpenSnapshot(writeSnapshot(t, "new.olmgate", snapshot.Catalog{Name: "a", Priority: 3, Problem: "p"}), catalog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	all, said := Overlay(found, other)
	if len(all) != 2 || all[0].Catalog.Spec.Priority != 3 || all[0].Content.Problem != "p" || len(said) != 1 {
		t.Errorf("got %+v, said %q", all, said)
	}
}
