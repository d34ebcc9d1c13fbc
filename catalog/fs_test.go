package catalog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestADirectoryIsOneCatalog(t *testing.T) {
	x, err := ReadFS(fstest.MapFS{
		"package.json":             {Data: []byte(kilnBlobs[0] + kilnBlobs[1])},
		"channels/fast.yaml":       {Data: []byte("schema: olm.channel\npackage: kiln-operator\nname: fast\nentries:\n- {name: kiln-operator.v1.1.0, skipRange: ^1.0}\n- {name: kiln-operator.v9.9.9}\n")},
		"bundles/1.0.0.any":        {Data: []byte(kilnBlobs[3])},
		"bundles/1.1.0.jsonl.gz":   {Data: gzipped(t, []byte(kilnBlobs[4]))},
		"deprecations.json.zst":    {Data: zstded(t, []byte(kilnBlobs[5]))},
		"empty.yaml":               {},
		"other.json":               {Data: []byte(kilnBlobs[6])},
		"README.md":                {Data: []byte("not a catalog")},
		"docs/a.txt":               {Data: []byte("not a catalog")},
		"docs/deep/b.txt":          {Data: []byte("not a catalog")},
		"bundles/.indexignore":     {Data: []byte("*.draft\n!kept.draft\n")},
		"bundles/x.draft":          {Data: []byte("not a catalog")},
		"bundles/deep/y.draft":     {Data: []byte("not a catalog")},
		"bundles/kept.draft":       {Data: []byte(`{"schema":"olm.package","name":"kept"}`)},
		".indexignore":             {Data: []byte("# what is for people\n*.md\n/docs/\n")},
		"bundles/docs/counts.json": {Data: []byte(`{"schema":"olm.package","name":"counts"}`)},
	}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(strings.ReplaceAll(describe(x), "\npackage counts declared=true default= contained=true", ""), "\npackage kept declared=true default= contained=true", "")
	if got != kilnDescribed {
		t.Errorf("got\n%s", describe(x))
	}
	if s := x.Stats(); s.Packages != 3 || s.Blobs != 9 {
		t.Errorf("stats %+v", s)
	}
}

func TestADirectoryThatCannotBeReadIsRefused(t *testing.T) {
	good := &fstest.MapFile{Data: []byte(kilnBlobs[0])}
	for name, c := range map[string]struct {
		root   fs.FS
		limits Limits
		is     error
		says   []string
	}{
		"no file":                       {fstest.MapFS{}, Limits{}, ErrNoFiles, []string{"holds no file"}},
		"every file is ignored":         {fstest.MapFS{".indexignore": {Data: []byte("*\n")}, "a.json": good}, Limits{}, ErrNoFiles, []string{".indexignore"}},
		"a broken file further in":      {fstest.MapFS{"a.json": good, "b/c.json": {Data: []byte(kilnBlobs[0] + "\noops")}}, Limits{}, nil, []string{"b/c.json: byte 155: expected an FBC object"}},
		"a file that may not be read":   {forbidden{fstest.MapFS{"a.json": good, "secret.json": good}, "secret.json"}, Limits{}, fs.ErrPermission, []string{"secret.json"}},
		"a folder that may not be read": {forbidden{fstest.MapFS{"a.json": good, "secret/b.json": good}, "secret"}, Limits{}, fs.ErrPermission, []string{"secret"}},
		"something that is no file":     {fstest.MapFS{"a.json": good, "pipe": {Mode: fs.ModeNamedPipe}}, Limits{}, nil, []string{"pipe", "not a regular file"}},
		"too many files":                {fstest.MapFS{"a.json": good, "b.json": good, "c.json": good}, Limits{Files: 2}, ErrLimit, []string{"more than 2 files"}},
		"too many bytes in all":         {fstest.MapFS{"a.json": good, "b.json": good}, Limits{TotalBytes: 200}, ErrLimit, []string{"b.json", "more than 200 bytes"}},
		"too many blobs in all":         {fstest.MapFS{"a.json": good, "b.json": good}, Limits{Blobs: 1}, ErrLimit, []string{"b.json", "more than 1 objects"}},
		"a truncated gzip":              {fstest.MapFS{"a.json": good, "b.gz": {Data: gzipped(t, lines(kilnBlobs))[:100]}}, Limits{}, nil, []string{"b.gz", "unexpected EOF"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadFS(c.root, c.limits)
			if err == nil {
				t.Fatal("taken")
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v, want %v", err, c.is)
			}
			for _, w := range c.says {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q is missing in: %v", w, err)
				}
			}
		})
	}
}

// forbidden refuses to open one path.
type forbidden struct {
	fs.FS
	path string
}

func (f forbidden) Open(name string) (fs.File, error) {
	if name == f.path {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.FS.Open(name)
}

func TestALinkToAFileIsRead(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(elsewhere, "x"), lines(kilnBlobs), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(elsewhere, "x"), filepath.Join(dir, "catalog.json")); err != nil {
		t.Skip(err)
	}
	x, err := ReadFS(os.DirFS(dir), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(x); got != kilnDescribed {
		t.Errorf("got\n%s", got)
	}
}
