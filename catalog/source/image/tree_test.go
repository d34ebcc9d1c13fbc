package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/olmgate/olmgate/catalog"
)

// model is a set of files by path, each with the layer that it is of: the same as a tree, in a simple way.
type model map[string]int

func (m model) remove(below string, layer int, self bool) {
	for p, of := range m {
		if of < layer && (self && p == below || strings.HasPrefix(p, strings.TrimSuffix(below, "/")+"/")) {
			delete(m, p)
		}
	}
}

// TestLayersMeanWhatTheyMeanOneByOne compares the tree with a model, for layers of few names that hide each other.
func TestLayersMeanWhatTheyMeanOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom([]string{"x", "x/a", "x/b", "x/a/c", "x/b/a", "y/a"})
		tr := newTree("x", 1000)
		want := model{}
		for layer := range rapid.IntRange(1, 4).Draw(t, "layers") {
			tr.begin(layer)
			added := map[string]bool{}
			var gone, opaques []string
			for entry := range rapid.IntRange(0, 5).Draw(t, "entries") {
				p := names.Draw(t, "path")
				var h *tar.Header
				switch rapid.IntRange(0, 2).Draw(t, "kind") {
				case 0:
					// Files are leaves of their own, so that none lies below another.
					h = &tar.Header{Name: p + "/f", Typeflag: tar.TypeReg}
					added[p+"/f"] = true
				case 1:
					h = &tar.Header{Name: path.Join(path.Dir(p), ".wh."+path.Base(p)), Typeflag: tar.TypeReg}
					gone = append(gone, p)
				case 2:
					h = &tar.Header{Name: p + "/.wh..wh..opq", Typeflag: tar.TypeReg}
					opaques = append(opaques, p)
				}
				if _, err := tr.add(h, entry); err != nil {
					t.Fatal(err)
				}
			}
			tr.end()
			for _, p := range gone {
				want.remove(p, layer, true)
			}
			for _, p := range opaques {
				want.remove(p, layer, false)
			}
			for p := range added {
				want[p] = layer
			}
		}
		maps.DeleteFunc(want, func(p string, _ int) bool { return !strings.HasPrefix(p, "x/") })
		got := model{}
		if root := tr.at([]string{"x"}); root != nil {
			err := fs.WalkDir(files{root}, ".", func(name string, e fs.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					got["x/"+name] = tr.at(split("x/" + name)).layer
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if !maps.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// FuzzLayer feeds any text as a layer, plain and packed: it must not panic, must end, and must keep its limits.
func FuzzLayer(f *testing.F) {
	for _, seed := range [][]byte{
		packed(f, "configs/", "configs/a.json", pkg("a"), "configs/.wh.b", "", "configs/.wh..wh..opq", ""),
		packed(f, &tar.Header{Name: "configs/b", Typeflag: tar.TypeSymlink, Linkname: "../x"}, "configs/../x", "x"),
		zipped(f, packed(f, "configs/a.json", pkg("a"))), zstded(f, packed(f, "configs/a.json", pkg("a"))), {0x28, 0xb5, 0x2f, 0xfd}, {0x1f, 0x8b},
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		limits := Limits{UnpackedBytes: 1 << 20, Entries: 100}.withDefaults()
		for _, layer := range [][]byte{text, zstded(t, text)} {
			left := &allowance{bytes: limits.UnpackedBytes, entries: limits.Entries, limits: limits}
			tr := newTree("/configs", limits.Entries)
			for n := range 2 {
				tr.begin(n)
				err := walk(context.Background(), bytes.NewReader(layer), left, func(h *tar.Header, entry int, _ io.Reader) error {
					_, err := tr.add(h, entry)
					return err
				})
				if err != nil {
					return
				}
				tr.end()
			}
			root := tr.at(tr.configs)
			if root == nil {
				continue
			}
			names, err := catalog.Files(files{root}, catalog.Limits{})
			if err != nil && !errors.Is(err, catalog.ErrNoFiles) {
				t.Fatal(err)
			}
			for _, name := range names {
				n := (&tree{root: root}).at(split(name))
				if n == nil || n.kind != tar.TypeReg || slices.Contains(strings.Split(name, "/"), "..") {
					t.Fatalf("%q is %+v", name, n)
				}
			}
		}
	})
}
