package snapshot

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"github.com/olmgate/olmgate/catalog"
)

func TestWhatIsEncodedIsDecodedAgain(t *testing.T) {
	for name, s := range map[string]*Snapshot{"nothing": {}, "a catalog of every kind": sample(t)} {
		t.Run(name, func(t *testing.T) {
			text := encoded(t, s)
			got, err := Decode(iotest.OneByteReader(bytes.NewReader(text)), catalog.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if !got.Created.Equal(s.Created) || got.CreatedBy != s.CreatedBy || len(got.Catalogs) != len(s.Catalogs) {
				t.Errorf("got %+v, want %+v", got, s)
			}
			for i := range s.Catalogs {
				g, w := got.Catalogs[i], s.Catalogs[i]
				if (g.Index == nil) != (w.Index == nil) || g.Index != nil && !bytes.Equal(indexText(t, g.Index), indexText(t, w.Index)) {
					t.Errorf("catalog %s has another content", w.Name)
				}
				if g.Index, w.Index = nil, nil; !reflect.DeepEqual(g, w) {
					t.Errorf("got %+v, want %+v", g, w)
				}
			}
			if !bytes.Equal(encoded(t, got), text) {
				t.Error("encoded again it differs")
			}
		})
	}
}

func indexText(t *testing.T, x *catalog.Index) []byte {
	var out bytes.Buffer
	if err := x.Encode(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestADamagedSnapshotIsRefusedWhateverByteIsAltered(t *testing.T) {
	good := encoded(t, sample(t))
	for i := range good {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			bad := bytes.Clone(good)
			bad[i] ^= flip
			_, err := Decode(bytes.NewReader(bad), catalog.Limits{})
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotSnapshot) && !errors.Is(err, ErrVersion) {
				t.Fatalf("altered at byte %d: %v", i, err)
			}
		}
	}
	for cut := range good {
		_, err := Decode(bytes.NewReader(good[:cut]), catalog.Limits{})
		if want := map[bool]error{true: ErrNotSnapshot, false: ErrDamaged}[cut < len(formatName)]; !errors.Is(err, want) {
			t.Fatalf("cut at byte %d: %v, want %v", cut, err, want)
		}
	}
	if _, err := Decode(bytes.NewReader(append(bytes.Clone(good), 0)), catalog.Limits{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("one byte more: %v", err)
	}
	if _, err := Decode(iotest.TimeoutReader(bytes.NewReader(good)), catalog.Limits{}); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("an error of the reader: %v", err)
	}
}

// TestWrongFilesSayWhatToDo has files whose checksum is right, as no accident makes them, too.
func TestWrongFilesSayWhatToDo(t *testing.T) {
	good := encoded(t, sample(t))
	hub := indexText(t, mustRead(t, kiln))
	with := func(old, text string) []byte {
		if !bytes.Contains(good, []byte(old)) {
			t.Fatalf("no %q", old)
		}
		return sealed(bytes.Replace(body(good), []byte(old), []byte(text), 1))
	}
	// A frame of 64 MiB of zeros in some kB, under the right checksum of an index.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z.Reset(&packed)
	if _, err := io.CopyN(z, zero{}, 64<<20); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(packed.Bytes())
	bomb := slices.Concat(hub[:len("olmgate-index-1\n")], sum[:], packed.Bytes())

	for name, c := range map[string]struct {
		text   []byte
		reason error
		words  string
	}{
		"nothing":                   {nil, ErrNotSnapshot, "olmgate catalog snapshot"},
		"a File-Based Catalog":      {[]byte(kiln), ErrNotSnapshot, "--catalog NAME=PATH"},
		"another version":           {bytes.Replace(good, []byte("snapshot-1\n"), []byte("snapshot-2\n"), 1), ErrVersion, "it is 2, and this olmgate reads 1"},
		"no version":                {[]byte(formatName + "x\n"), ErrDamaged, "version"},
		"a first line without end":  {[]byte(formatName + strings.Repeat("1", 1000)), ErrDamaged, "version"},
		"no size":                   {[]byte(formatName + "1\nmany bytes\n"), ErrDamaged, "size"},
		"a size beyond all":         {[]byte(formatName + "1\n9000000000000000000 bytes, sha256:00\n"), catalog.ErrLimit, "larger than"},
		"a size beyond numbers":     {[]byte(formatName + "1\n99000000000000000000 bytes, sha256:00\n"), ErrDamaged, "size"},
		"cut short":                 {good[:len(good)-10], ErrDamaged, "it was cut short: it has "},
		"altered":                   {append(good[:len(good)-1:len(good)-1], 'x'), ErrDamaged, "altered"},
		"a header without end":      {sealed([]byte(`{"catalogs":[]}`)), ErrDamaged, "no end"},
		"a header that is no JSON":  {sealed([]byte("{\n")), ErrDamaged, "its header"},
		"a header that is large":    {sealed(append(bytes.Repeat([]byte(" "), maxHeader+1), '\n')), catalog.ErrLimit, "header"},
		"a name that is none":       {with(`"late"`, `"lat\u001b"`), ErrDamaged, "no name of a ClusterCatalog"},
		"catalogs out of order":     {with(`"late"`, `"a"`), ErrDamaged, "not in order"},
		"two of one name":           {with(`"late"`, `"hub"`), ErrDamaged, "not in order"},
		"a priority beyond numbers": {with(`-5`, `9999999999`), ErrDamaged, "its header"},
		"a time that is none":       {with("2026-02-03", "2026-02-31"), ErrDamaged, "its header"},
		"another content":           {with(`"bundles":2`, `"bundles":3`), ErrDamaged, "another than its header says"},
		"content of nobody":         {sealed(append(body(good), 'x')), ErrDamaged, "belong to no catalog"},
		"content that is not there": {sealed(body(good)[:len(body(good))-1]), ErrDamaged, "is not all there"},
		"a negative length":         {with(`"content":{"bytes":`, `"content":{"bytes":-`), ErrDamaged, "is not all there"},
		"an index that is damaged":  {with("olmgate-index-1\n", "olmgate-index-2\n"), ErrDamaged, `catalog "empty"`},
		"a zip bomb": {sealed([]byte(`{"catalogs":[{"name":"hub","content":{"bytes":` + itoa(len(bomb)) + "}}]}\n" + string(bomb))),
			catalog.ErrLimit, "would be larger than"},
		"too many catalogs": {sealed([]byte(`{"catalogs":[` + strings.Repeat("{},", maxCatalogs) + "{}]}\n")), catalog.ErrLimit, "more than 10000 catalogs"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "catalogs.olmgate")
			if err := os.WriteFile(file, c.text, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := ReadFile(file, catalog.Limits{IndexBytes: 16 << 20})
			if !errors.Is(err, c.reason) {
				t.Fatalf("got %v, want %v", err, c.reason)
			}
			if !strings.Contains(err.Error(), c.words) || !strings.HasPrefix(err.Error(), file+": ") {
				t.Errorf("%q or the file is missing in: %v", c.words, err)
			}
		})
	}
}

func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(b []byte, n int) []byte {
	if n >= 10 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestContentsTogetherKeepTheLimit(t *testing.T) {
	s := &Snapshot{}
	x := mustRead(t, kiln)
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		s.Catalogs = append(s.Catalogs, Catalog{Name: name, Index: x})
	}
	text := encoded(t, s)
	one := encoded(t, &Snapshot{Catalogs: s.Catalogs[:1]})
	limits := catalog.Limits{IndexBytes: 8 << 10}
	if _, err := Decode(bytes.NewReader(one), limits); err != nil {
		t.Fatalf("one: %v", err)
	}
	if _, err := Decode(bytes.NewReader(text), limits); !errors.Is(err, catalog.ErrLimit) {
		t.Errorf("eight: %v, want %v", err, catalog.ErrLimit)
	}
}

func TestWhatCannotBeReadIsNotWritten(t *testing.T) {
	for name, s := range map[string]*Snapshot{
		"out of order":     {Catalogs: []Catalog{{Name: "b"}, {Name: "a"}}},
		"two of one name":  {Catalogs: []Catalog{{Name: "a"}, {Name: "a"}}},
		"no name":          {Catalogs: []Catalog{{}}},
		"too many of them": {Catalogs: make([]Catalog, maxCatalogs+1)},
	} {
		var out bytes.Buffer
		if err := s.Encode(&out); err == nil || out.Len() > 0 {
			t.Errorf("%s: got %v and %d bytes", name, err, out.Len())
		}
	}
}

func TestFilesAreReplacedInOneStep(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "catalogs.olmgate")
	s := sample(t)
	write := func(to string) {
		t.Helper()
		if err := WriteFile(to, s); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(to, catalog.Limits{}); err != nil || !IsFile(to) {
			t.Errorf("it cannot be read: %v", err)
		}
	}
	write(file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	// It keeps its mode, and a link stays one.
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("catalogs.olmgate", link); err != nil {
		t.Fatal(err)
	}
	write(link)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}

	// Whoever has the old one open keeps it.
	old, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	write(file)
	if _, err := Decode(old, catalog.Limits{}); err != nil {
		t.Errorf("the old one: %v", err)
	}

	// After a failure the old one is there, and nothing else.
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(file, &Snapshot{Catalogs: []Catalog{{Name: "B!"}}}); err == nil {
		t.Error("it was written")
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, before) {
		t.Errorf("it was changed: %v", err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("left behind: %v, %v", list, err)
	}
	for _, to := range []string{dir, os.DevNull, filepath.Join(dir, "absent", "x")} {
		if err := WriteFile(to, s); err == nil {
			t.Errorf("%s was written", to)
		}
	}
	if IsFile(dir) || IsFile(filepath.Join(dir, "absent")) || IsFile(os.DevNull) {
		t.Error("taken for a snapshot")
	}
}

// FuzzDecode feeds any text to the decoder: as it is, as a body, and as the content of a catalog, with right checksums.
// It must not panic, must keep its limits, and what it takes must survive another round.
func FuzzDecode(f *testing.F) {
	good := encoded(f, sample(f))
	f.Add(good)
	f.Add(body(good))
	f.Add([]byte(`{"created":"2026-02-03T04:05:06Z","createdBy":"","catalogs":[{"name":"a","priority":0,"serving":true}]}` + "\n"))
	f.Add([]byte("olmgate-index-1\n"))
	limits := catalog.Limits{IndexBytes: 4 << 20, TotalBytes: 4 << 20}
	f.Fuzz(func(t *testing.T, text []byte) {
		asContent := append([]byte(`{"catalogs":[{"name":"a","content":{"bytes":`+itoa(len(text))+"}}]}\n"), text...)
		for _, in := range [][]byte{text, sealed(text), sealed(asContent)} {
			s, err := Decode(bytes.NewReader(in), limits)
			if err != nil {
				if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotSnapshot) && !errors.Is(err, ErrVersion) && !errors.Is(err, catalog.ErrLimit) {
					t.Fatalf("no reason for: %v", err)
				}
				continue
			}
			if s.Created.Year() < 0 || s.Created.Year() > 9999 {
				continue // RFC 3339 does not have them; a time zone may lead there
			}
			once := encoded(t, s)
			again, err := Decode(bytes.NewReader(once), catalog.Limits{})
			if err != nil || !bytes.Equal(encoded(t, again), once) {
				t.Fatalf("does not survive another round: %v", err)
			}
		}
	})
}
