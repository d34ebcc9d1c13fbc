package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// realFile returns the path of a file of real catalogs, or skips the test when the folder is absent.
func realFile(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("OLMGATE_CATALOGS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "catalogs")
	}
	file := filepath.Join(dir, name)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("real catalogs are not here (set OLMGATE_CATALOGS to their folder): %v", err)
	}
	return file
}

// realCatalog returns the text of a real catalog, or skips the test when the folder is absent.
func realCatalog(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(realFile(t, name+".jsonl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRealCatalogsAreCountedRight(t *testing.T) {
	for name, want := range map[string]Stats{
		"operatorhubio":   {Bytes: 69_926_518, Packages: 370, Channels: 571, Entries: 6_868, Bundles: 4_447},
		"community":       {Bytes: 88_015_210, Packages: 333, Channels: 629, Entries: 9_770, Bundles: 6_479},
		"community-v4.20": {Bytes: 79_626_799, Packages: 315, Channels: 533, Entries: 7_689, Bundles: 5_624},
		"certified":       {Bytes: 69_622_875, Packages: 301, Channels: 766, Entries: 2_823, Bundles: 2_128},
		"certified-all":   {Bytes: 107_910_435, Packages: 301, Channels: 766, Entries: 6_222, Bundles: 4_737},
		"rhmp":            {Bytes: 12_187_223, Packages: 41, Channels: 81, Entries: 417, Bundles: 378},
		"redhat":          {Bytes: 4_402_873, Packages: 26, Channels: 81, Entries: 517, Bundles: 296},
		"kubedoop":        {Bytes: 166_396, Packages: 8, Channels: 8, Entries: 8, Bundles: 8},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(realFile(t, name+".jsonl.zst"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			x, err := Read(f, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got := x.Stats()
			got.Blobs, got.Unknown, got.Deprecations = 0, 0, 0
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			text := encoded(t, x)
			again, err := Decode(bytes.NewReader(text), Limits{})
			if err != nil || again.Stats() != x.Stats() || describe(again) != describe(x) || !bytes.Equal(encoded(t, again), text) {
				t.Errorf("does not survive encoding: %v", err)
			}
			t.Logf("%d bytes encoded, %d notes", len(text), len(x.Notes()))
		})
	}
}

func TestTheOrderOfRealBlobsDoesNotMatter(t *testing.T) {
	text := realCatalog(t, "rhmp")
	blobs := bytes.SplitAfter(text, []byte("\n"))
	slices.Reverse(blobs)
	if !bytes.Equal(encoded(t, mustRead(t, text)), encoded(t, mustRead(t, bytes.Join(blobs, nil)))) {
		t.Error("the blobs in reverse give another index")
	}
}

func TestRealDeprecationsAreAllThere(t *testing.T) {
	text, err := os.ReadFile(realFile(t, "deprecations-real.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	blobs := 0
	for dec := json.NewDecoder(bytes.NewReader(text)); ; blobs++ {
		var d struct {
			Package string
			Entries []struct {
				Message   string
				Reference struct{ Schema, Name string }
			}
		}
		if err := dec.Decode(&d); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, e := range d.Entries {
			if e.Reference.Schema == SchemaPackage {
				e.Reference.Name = ""
			}
			want = append(want, fmt.Sprintf("%s %s %s %q", d.Package, e.Reference.Schema, e.Reference.Name, e.Message))
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	x := mustRead(t, text)
	var got []string
	for _, p := range x.Packages() {
		for _, d := range p.Deprecations {
			got = append(got, fmt.Sprintf("%s %s %s %q", p.Name, d.Schema, d.Name, d.Message))
		}
	}
	slices.Sort(got)
	if blobs != 10 || len(x.Packages()) != 8 {
		t.Errorf("%d blobs of %d packages, want 10 of 8", blobs, len(x.Packages()))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
