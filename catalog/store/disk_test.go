package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/olmgate/olmgate/catalog"
)

// restart runs a test on a Store with the same cluster and cache directory as before.
func restart(t *testing.T, dir string, c *cluster, r *remote, test func(s *Store)) {
	t.Helper()
	s := New(Options{Fetcher: r, Latest: c.latest, CacheDir: dir})
	s.free = func() {}
	defer s.Close()
	test(s)
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, filepath.Join(dir, e.Name()))
	}
	return names
}

func TestARestartNeedsNoNetwork(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	inBubble(t, Options{CacheDir: dir}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		cc := c.set("a", serves(one))
		s.observe(cc)
		r.next(t, "a", one).succeed(t, "first")
		s.Close()
		restart(t, dir, c, r, func(s *Store) {
			s.observe(cc)
			s.listed()
			r.none(t)
			<-s.Settled()
			expect(t, s, cc, "first", false, "")
			expectPhase(t, s, Current)
		})
	})
}

func TestCacheFilesThatAreNotUsed(t *testing.T) {
	tests := map[string]struct {
		spoil func(t *testing.T, c *cluster, file string)
		ref   string
	}{
		"another revision": {func(_ *testing.T, c *cluster, _ string) { c.set("a", serves(two)) }, two},
		"another catalog of the same name": {func(_ *testing.T, c *cluster, _ string) {
			c.remove("a")
			c.set("a", serves(one))
		}, one},
		"cut short":        {edit(func(b []byte) []byte { return b[:len(b)-3] }), one},
		"cut in the label": {edit(func(b []byte) []byte { return b[:30] }), one},
		"empty":            {edit(func([]byte) []byte { return nil }), one},
		"a flipped bit": {edit(func(b []byte) []byte {
			b[len(b)-6] ^= 1
			return b
		}), one},
		"another version": {edit(func(b []byte) []byte { return bytes.Replace(b, []byte("cache 1\n"), []byte("cache 2\n"), 1) }), one},
		"a label without an end": {edit(func([]byte) []byte {
			return append([]byte(diskFormat), bytes.Repeat([]byte("x"), 2*maxLabel)...)
		}), one},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			inBubble(t, Options{CacheDir: dir}, func(t *testing.T, c *cluster, r *remote, s *Store) {
				s.observe(c.set("a", serves(one)))
				r.next(t, "a", one).succeed(t, "first")
				s.Close()
				all := files(t, dir)
				if len(all) != 1 {
					t.Fatalf("got files %v, want one", all)
				}
				tc.spoil(t, c, all[0])
				restart(t, dir, c, r, func(s *Store) {
					cc := c.set("a", labelled)
					s.observe(cc)
					d := r.next(t, "a", tc.ref)
					if left := files(t, dir); len(left) != 0 {
						t.Errorf("got files %v, want none", left)
					}
					d.succeed(t, "second")
					expect(t, s, cc, "second", false, "")
					if left := files(t, dir); len(left) != 1 {
						t.Errorf("got files %v, want a new one", left)
					}
				})
			})
		})
	}
}

func edit(change func([]byte) []byte) func(*testing.T, *cluster, string) {
	return func(t *testing.T, _ *cluster, file string) {
		t.Helper()
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, change(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCacheFilesOfDeletedCatalogsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, Options{CacheDir: dir}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		for _, name := range []string{"a", "b", "c"} {
			s.observe(c.set(name, serves(one)))
			r.next(t, name, one).succeed(t, "x")
		}
		s.drop("a")
		if left := files(t, dir); len(left) != 2 {
			t.Errorf("after a deletion: got %v, want two", left)
		}
		s.Close()
		for _, extra := range []string{"half.index.tmp", "notes.txt"} {
			if err := os.WriteFile(filepath.Join(dir, extra), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c.remove("b") // while nobody watches
		restart(t, dir, c, r, func(s *Store) {
			s.observe(c.set("c", labelled))
			synctest.Wait()
			s.listed()
			r.none(t)
			left := files(t, dir)
			if len(left) != 2 || left[0] != filepath.Join(dir, s.disk.file("c")) && left[1] != filepath.Join(dir, s.disk.file("c")) {
				t.Errorf("got %v, want the file of c and the one that is not ours", left)
			}
		})
	})
}

func TestADeletedCatalogIsNotWrittenAfterwards(t *testing.T) {
	d, err := openDisk(t.TempDir(), catalog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	l := &loaded{index: &catalog.Index{}, of: revision{"uid", one}}
	if err := d.write("a", l, func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	if _, err := d.read("a", l.of); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no file", err)
	}
}

func TestACacheDirectoryThatCannotBeUsedIsDoneWithout(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	inBubble(t, Options{CacheDir: filepath.Join(file, "cache")}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		cc := c.set("a", serves(one))
		s.observe(cc)
		r.next(t, "a", one).succeed(t, "first")
		expect(t, s, cc, "first", false, "")
	})
}
