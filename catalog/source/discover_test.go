package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/olmgate/olmgate/catalog"
)

const (
	manifestA = "apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\nmetadata: {name: a, labels: {x: y}}\nspec: {priority: 7}\n"
	manifestB = `{"apiVersion":"olm.operatorframework.io/v1","kind":"ClusterCatalog","metadata":{"name":"b"}}`
	fbcYAML   = "---\nschema: olm.package\nname: p\ndefaultChannel: stable\n"
	extension = "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {name: e}\n"
)

func TestDiscover(t *testing.T) {
	tests := map[string]struct {
		files map[string]string
		hand  []string
		// want has a line per catalog: name, manifest, content.
		want []string
		says []string
	}{
		"content beside its manifest": {
			files: map[string]string{"catalogs.yaml": manifestA, "a.jsonl": argo},
			want:  []string{"a catalogs.yaml a.jsonl"},
		},
		"content in another directory than its manifest": {
			files: map[string]string{"manifests/a.yaml": manifestA, "content/a.jsonl": argo},
			want:  []string{"a manifests/a.yaml content/a.jsonl"},
		},
		"content without a manifest": {
			files: map[string]string{"x.json": argo, "y.yml": fbcYAML, "z.yaml": fbcYAML},
			want:  []string{"x - x.json", "y - y.yml", "z - z.yaml"},
		},
		"a manifest without content": {
			files: map[string]string{"a.yaml": manifestA},
			want:  []string{"a a.yaml -"},
		},
		"several documents and other kinds": {
			files: map[string]string{"all.yaml": "# comment\n---\n" + extension + "---\n" + manifestA + "---\n" + manifestB},
			want:  []string{"a all.yaml -", "b all.yaml -"},
		},
		"a List as kubectl prints it": {
			files: map[string]string{"all.json": "{\n\t\"apiVersion\": \"v1\", \"kind\": \"List\",\n\t\"items\": [" + manifestB + "," + `{"apiVersion":"v1","kind":"Secret"}` + "]}"},
			want:  []string{"b all.json -"},
		},
		"a ClusterCatalogList": {
			files: map[string]string{"all.json": `{"apiVersion":"olm.operatorframework.io/v1","kind":"ClusterCatalogList","items":[` + manifestB + "]}"},
			want:  []string{"b all.json -"},
		},
		"manifests as JSON lines": {
			files: map[string]string{"all.jsonl": manifestB + "\n" + strings.ReplaceAll(manifestB, `"b"`, `"c"`)},
			want:  []string{"b all.jsonl -", "c all.jsonl -"},
		},
		"a directory of FBC files for a manifest": {
			files: map[string]string{"m.yaml": manifestA, "a/p/catalog.yaml": fbcYAML, "a/q/catalog.yaml": fbcYAML},
			want:  []string{"a m.yaml a"},
		},
		"a directory of FBC files without a manifest is one catalog": {
			files: map[string]string{"mine/p/catalog.yaml": fbcYAML, "mine/q/catalog.yaml": fbcYAML},
			want:  []string{"mine - mine"},
		},
		"a directory that only groups contents": {
			files: map[string]string{"m.yaml": manifestA + "---\n" + manifestB, "content/a.jsonl": argo, "content/b/catalog.yaml": fbcYAML},
			want:  []string{"a m.yaml content/a.jsonl", "b m.yaml content/b"},
		},
		"a directory of one catalog's manifest and content": {
			files: map[string]string{"a/manifest.yaml": manifestA, "a/a.jsonl": argo},
			want:  []string{"a a/manifest.yaml a/a.jsonl"},
		},
		"manifests inside content are not looked for": {
			files: map[string]string{"m.yaml": manifestA, "a/catalog.yaml": fbcYAML, "a/stray.yaml": manifestB, "a/broken.yaml": "{{"},
			want:  []string{"a m.yaml a"},
		},
		"what is neither is skipped": {
			files: map[string]string{"a.yaml": manifestA, "kustomization.yaml": "resources: [a.yaml]\n", "empty.yaml": "---\n# nothing\n",
				"README.md": "{{", ".hidden.yaml": "{{", ".git/x.yaml": "{{", "list.json": "[]", "e.yaml": extension},
			want: []string{"a a.yaml -"},
		},
		"empty content of a catalog that has a manifest": {
			files: map[string]string{"m.yaml": manifestA, "a.jsonl": ""},
			want:  []string{"a m.yaml a.jsonl"},
		},
		"broken content of a catalog that has a manifest": {
			files: map[string]string{"m.yaml": manifestA, "a.json": "{"},
			want:  []string{"a m.yaml a.json"},
		},
		"content by hand": {
			files: map[string]string{"a.yaml": manifestA, "elsewhere.jsonl": argo, "a.jsonl": argo},
			hand:  []string{"a=elsewhere.jsonl", "c=a.jsonl"},
			want:  []string{"a a.yaml elsewhere.jsonl", "c - a.jsonl", "elsewhere - elsewhere.jsonl"},
		},
		"content by hand settles which of two counts": {
			files: map[string]string{"a.json": argo, "a.jsonl": argo},
			hand:  []string{"a=a.json"},
			want:  []string{"a - a.json"},
		},
		"two contents of one name": {
			files: map[string]string{"a.jsonl": argo, "x/a/catalog.yaml": fbcYAML, "m.yaml": manifestA},
			says:  []string{`content of catalog "a" is there twice`, "a.jsonl", "x/a", "--catalog a=PATH"},
		},
		"two manifests of one name": {
			files: map[string]string{"one.yaml": manifestA, "two.yaml": manifestA},
			says:  []string{`ClusterCatalog "a" is described twice`, "one.yaml", "two.yaml"},
		},
		"two manifests of one name in one file": {
			files: map[string]string{"one.yaml": manifestA + "---\n" + manifestA},
			says:  []string{`ClusterCatalog "a" is described twice`, "one.yaml"},
		},
		"a manifest among the FBC files that it is for": {
			files: map[string]string{"a/manifest.yaml": manifestA, "a/catalog.yaml": fbcYAML},
			says:  []string{"move the manifest out of the directory"},
		},
		"a broken manifest": {
			files: map[string]string{"m.yaml": manifestA + "---\nkind: [\n"},
			says:  []string{"m.yaml", "line"},
		},
		"a manifest with a field of the wrong type": {
			files: map[string]string{"m.yaml": extension + "---\n" + strings.Replace(manifestA, "priority: 7", "priority: high", 1)},
			says:  []string{"m.yaml: line 5", "priority"},
		},
		"a manifest of another version": {
			files: map[string]string{"m.yaml": strings.Replace(manifestA, "/v1\n", "/v1alpha1\n", 1)},
			says:  []string{"m.yaml: line 1", "v1alpha1", "olmgate reads olm.operatorframework.io/v1"},
		},
		"a manifest without a name": {
			files: map[string]string{"m.yaml": strings.Replace(manifestA, "name: a", "generateName: a", 1)},
			says:  []string{"m.yaml", "metadata.name"},
		},
		"an empty file, which could be a catalog that is missing": {
			files: map[string]string{"a.jsonl": argo, "b.yaml": ""},
			want:  []string{"a - a.jsonl", "b - b.yaml"},
		},
		"a file that cannot be told": {
			files: map[string]string{"values.yaml": "a: {{ .b }}\n: x"},
			says:  []string{"values.yaml"},
		},
		"content of a name that no catalog can have": {
			files: map[string]string{"My_Catalog.jsonl": argo},
			says:  []string{"My_Catalog", "rename it"},
		},
		"nothing": {
			files: map[string]string{"README.md": "x"},
			says:  []string{"no catalog below", "looked for ClusterCatalog manifests"},
		},
		"content by hand that is not there":   {hand: []string{"a=nowhere.jsonl"}, says: []string{`"a"`, "nowhere.jsonl"}},
		"content by hand that is a manifest":  {files: map[string]string{"a.yaml": manifestA}, hand: []string{"a=a.yaml"}, says: []string{"holds manifests"}},
		"content by hand twice for one name":  {files: map[string]string{"a.jsonl": argo}, hand: []string{"a=a.jsonl", "a=a.jsonl"}, says: []string{"by hand twice"}},
		"a directory that is not there":       {says: []string{"looking for catalogs below"}},
		"content by hand without a directory": {files: map[string]string{"a.jsonl": argo}, hand: []string{"a=a.jsonl"}, want: []string{"a - a.jsonl"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			for file, text := range tc.files {
				write(t, filepath.Join(dir, file), text)
			}
			var hand []ByHand
			for _, h := range tc.hand {
				name, path, _ := strings.Cut(h, "=")
				b, err := ParseByHand(name + "=" + filepath.Join(dir, path))
				if err != nil {
					t.Fatal(err)
				}
				hand = append(hand, b)
			}
			from := dir
			if strings.HasSuffix(name, "without a directory") {
				from = ""
			}
			all, err := Discover(from, hand...)
			for _, s := range tc.says {
				if err == nil || !strings.Contains(err.Error(), s) {
					t.Errorf("got %v, want it to say %q", err, s)
				}
			}
			if len(tc.says) > 0 {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range all {
				got = append(got, o.Catalog.Name+" "+short(dir, o.Manifest)+" "+short(dir, o.Path))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func short(dir, path string) string {
	if path == "" {
		return "-"
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

func TestDiscoverKeepsTheManifest(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), manifestA)
	write(t, filepath.Join(dir, "x.jsonl"), argo)
	all, err := Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	if a := all[0].Catalog; a.Spec.Priority != 7 || a.Labels["x"] != "y" {
		t.Errorf("got %+v", a)
	}
	if x := all[1].Catalog; x.Kind != "ClusterCatalog" || x.Spec.Priority != 0 || len(x.Labels) != 0 {
		t.Errorf("got %+v", x)
	}
}

func TestDiscoverFollowsLinksButNotInCircles(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	write(t, filepath.Join(other, "catalog.yaml"), fbcYAML)
	write(t, filepath.Join(dir, "sub", "m.yaml"), manifestA)
	for link, to := range map[string]string{"a": other, "sub/up": dir, "sub/self": "."} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].Path != filepath.Join(dir, "a") {
		t.Fatalf("got %+v", all)
	}
	if _, err := all[0].Load(catalog.Limits{}); err != nil {
		t.Error(err)
	}
}

func TestLoad(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	zst := string(z.EncodeAll([]byte(argo), nil))
	tests := map[string]struct {
		file, text string
		is         error
		says       string
	}{
		"JSON lines":          {file: "a.jsonl", text: argo},
		"YAML":                {file: "a.yaml", text: fbcYAML},
		"gzip":                {file: "a.jsonl.gz", text: gzipped(t, argo)},
		"gzipped YAML":        {file: "a.yaml.gz", text: gzipped(t, fbcYAML)},
		"zstd":                {file: "a.json.zst", text: zst},
		"a directory":         {file: "a/p/catalog.yaml", text: fbcYAML},
		"broken content":      {file: "a.json", text: argo + "{", says: "a.json: byte"},
		"broken in a subtree": {file: "a/p/catalog.json", text: argo + "{", says: "p/catalog.json: byte"},
		"gzip cut short":      {file: "a.jsonl.gz", text: gzipped(t, argo)[:100], says: "a.jsonl.gz"},
		"no content":          {file: "other.txt", text: "", is: ErrNoContent},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "manifest.yaml"), manifestA)
			write(t, filepath.Join(dir, tc.file), tc.text)
			all, err := Discover(dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(all) != 1 {
				t.Fatalf("got %+v, want one catalog", all)
			}
			index, err := all[0].Load(catalog.Limits{})
			if tc.is == nil && tc.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				if index.Stats().Packages != 1 {
					t.Errorf("got %+v, want one package", index.Stats())
				}
				return
			}
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), `"a"`) {
				t.Errorf("got %v, want %v and %q", err, tc.is, tc.says)
			}
		})
	}
}

func TestContentWithoutAnyObject(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.jsonl"), "")
	write(t, filepath.Join(dir, "b", "README"), "# nothing")
	found, err := Discover(dir)
	if err != nil || len(found) != 1 {
		t.Fatalf("got %+v, %v", found, err)
	}
	if index, err := found[0].Load(catalog.Limits{}); err != nil || index.Stats().Blobs != 0 {
		t.Errorf("an empty file that was found must be an empty catalog, got %v", err)
	}
	for _, path := range []string{"a.jsonl", "b"} {
		byHand, err := Discover("", ByHand{Name: "x", Path: filepath.Join(dir, path)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := byHand[0].Load(catalog.Limits{}); !errors.Is(err, ErrNoBlobs) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s by hand: got %v", path, err)
		}
	}
}

func TestAnEmptyDirectoryHasNoCatalogs(t *testing.T) {
	if found, err := Discover(t.TempDir()); err != nil || len(found) != 0 {
		t.Errorf("got %+v, %v", found, err)
	}
}

func TestParseByHand(t *testing.T) {
	for _, s := range []string{"", "a", "=x", "a=", "A_b=x"} {
		if got, err := ParseByHand(s); err == nil {
			t.Errorf("%q: got %+v, want an error", s, got)
		}
	}
	if got, err := ParseByHand("a.b=c=d"); err != nil || got != (ByHand{Name: "a.b", Path: "c=d"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := ParseByHand("a=oci://example.com/hub:v1"); err != nil || got != (ByHand{Name: "a", Image: "example.com/hub:v1"}) {
		t.Errorf("got %+v, %v", got, err)
	}
}
