package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	kiln = "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {name: kiln}\nspec: {source: {catalog: {packageName: kiln-operator}}}\n"
	hub  = `{"schema":"olm.package","name":"kiln-operator","defaultChannel":"stable"}
{"schema":"olm.channel","package":"kiln-operator","name":"stable","entries":[{"name":"kiln-operator.v1.0.0"}]}
{"schema":"olm.bundle","package":"kiln-operator","name":"kiln-operator.v1.0.0","image":"x","properties":[{"type":"olm.package","value":{"packageName":"kiln-operator","version":"1.0.0"}}]}
`
)

// put writes a file of a test and returns its path.
func put(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// refused wants exit status 2, no answer, and an error that says all of these.
func refused(t *testing.T, got answer, says ...string) {
	t.Helper()
	if got.code != exitUsage || got.out != "" {
		t.Errorf("exit status %d, want 2; output %q", got.code, got.out)
	}
	for _, s := range says {
		if !strings.Contains(got.err, s) {
			t.Errorf("the error does not have %q: %s", s, got.err)
		}
	}
	if n := strings.Count(got.err, "\n"); n != 1 {
		t.Errorf("%d lines, want one: %s", n, got.err)
	}
}

// repeating is a reader of n bytes of the same text over and over; it counts what was taken.
type repeating struct {
	text  string
	left  int64
	taken int64
}

func (r *repeating) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && int64(n) < r.left {
		n += copy(p[n:min(int64(len(p)), r.left)], r.text)
	}
	r.left -= int64(n)
	r.taken += int64(n)
	return n, nil
}

// allocated is how much memory the process has taken so far for the heap, in bytes, whether or not it is still in use.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

const gigabyte = 1 << 30

func TestGarbageOnStandardInput(t *testing.T) {
	catalogs := "hub=" + put(t, "hub.jsonl", hub)
	for name, tc := range map[string]struct{ text, says string }{
		"binary":           {"\x00\x9e\xff", "<stdin>:1: byte 0"},
		"text":             {"kind of a long story. ", "<stdin> is larger than 32 MiB"},
		"lines":            {"a\n", "<stdin> is larger than 32 MiB"},
		"text, then a NUL": {strings.Repeat("a: b\n", 100_000) + "\x00", "<stdin>"},
		"spaces":           {"    ", "<stdin> is larger than 32 MiB"},
		"braces":           {"{", "<stdin> is larger than 32 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			in := &repeating{text: tc.text, left: 2 * gigabyte}
			before := allocated()
			refused(t, olmgate(t, in, "resolve", "-f", "-", "--catalog", catalogs), tc.says)
			if in.taken > 2*maxInput {
				t.Errorf("%d bytes were read", in.taken)
			}
			if n := allocated() - before; n > 16*maxInput {
				t.Errorf("%d bytes were allocated", n)
			}
		})
	}
}

func TestGarbageAsACatalog(t *testing.T) {
	extension := put(t, "kiln.yaml", kiln)
	sparse := put(t, "hub.jsonl", "")
	if err := os.Truncate(sparse, 2*gigabyte); err != nil {
		t.Skip(err)
	}
	bomb := put(t, "hub.jsonl.zst", compressed(t, &repeating{text: strings.Repeat("\x00", 1<<20), left: gigabyte}))
	long := put(t, "hub.jsonl.zst", compressed(t, io.MultiReader(strings.NewReader(`{"schema":"olm.package","name":"a","description":"`),
		&repeating{text: strings.Repeat("a", 1<<20), left: gigabyte})))
	for name, path := range map[string]string{"2 GB of zeros": sparse, "1 GB of zeros in a small file": bomb, "1 GB of text in one object": long} {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			refused(t, olmgate(t, nil, "resolve", "-f", extension, "--catalog", "hub="+path), path, "byte 0", "limit exceeded")
			refused(t, olmgate(t, nil, "resolve", "-f", extension, "--catalogs", filepath.Dir(path)), path)
			if n := allocated() - before; n > 512<<20 {
				t.Errorf("%d bytes were allocated", n)
			}
		})
	}
}

func compressed(t *testing.T, r io.Reader) string {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, r); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCompressedCatalogsCutShort(t *testing.T) {
	extension := put(t, "kiln.yaml", kiln)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(z, hub); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, whole := range map[string]string{"hub.jsonl.zst": compressed(t, strings.NewReader(hub)), "hub.jsonl.gz": zipped.String()} {
		path := put(t, name, whole)
		for n := len(whole); n > 0; n -= 7 {
			if err := os.Truncate(path, int64(n)); err != nil {
				t.Fatal(err)
			}
			for _, flag := range []string{"--catalog=hub=" + path, "--catalogs=" + filepath.Dir(path)} {
				got := olmgate(t, nil, "resolve", "-f", extension, flag)
				if n == len(whole) {
					if got.code != exitOK {
						t.Errorf("%s as a whole: %+v", name, got)
					}
					continue
				}
				refused(t, got, path)
			}
		}
	}
}

func TestBombsInExtensions(t *testing.T) {
	head := "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {name: kiln}\n"
	var laughs strings.Builder
	laughs.WriteString(head + "spec:\n  a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&laughs, "  a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, tc := range map[string]struct{ file, text, says string }{
		"aliases":                  {"x.yaml", laughs.String(), "excessive aliasing"},
		"aliases in a List":        {"x.yaml", "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(laughs.String(), "\n", "\n  ") + "\n", "excessive aliasing"},
		"nested 10,000 deep":       {"x.yaml", head + "spec: " + deep(10_000) + "\n", "max depth"},
		"nested 9,000 deep":        {"x.yaml", head + "spec: " + deep(9_000) + "\n", "x.yaml:4"},
		"JSON nested 20,000 deep":  {"x.json", `{"apiVersion":"olm.operatorframework.io/v1","kind":"ClusterExtension","spec":` + deep(20_000) + "}", "x.json:1"},
		"JSON nested 9,000 deep":   {"x.json", `{"apiVersion":"olm.operatorframework.io/v1","kind":"ClusterExtension","spec":` + deep(9_000) + "}", "x.json:1"},
		"millions of short values": {"x.yaml", head + "spec: [" + strings.Repeat("a,", 3_000_000) + "]\n", "x.yaml:1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := put(t, tc.file, tc.text)
			refused(t, olmgate(t, nil, "resolve", "-f", path, "--catalog", "hub="+put(t, "hub.jsonl", hub)), path, tc.says)
		})
	}
}

func TestADirectoryInPlaceOfAFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "x.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	refused(t, olmgate(t, nil, "resolve", "-f", filepath.Join(dir, "x.yaml"), "--catalogs", dir), "x.yaml", "no .yaml, .yml or .json file")
	refused(t, olmgate(t, nil, "config", "check", dir), dir, "is a directory")
}

func TestFilesWithoutPermission(t *testing.T) {
	path := put(t, "x.yaml", kiln)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(path); err == nil {
		f.Close()
		t.Skip("this user may read everything")
	}
	refused(t, olmgate(t, nil, "resolve", "-f", path, "--catalog", "hub="+put(t, "hub.jsonl", hub)), path, "permission denied")
	refused(t, olmgate(t, nil, "resolve", "-f", put(t, "y.yaml", kiln), "--catalog", "hub="+path), path, "permission denied")
}

// broken is a writer that takes so many bytes.
type broken struct{ left int }

var errBroken = errors.New("the pipe is closed")

func (b *broken) Write(p []byte) (int, error) {
	if len(p) > b.left {
		return b.left, errBroken
	}
	b.left -= len(p)
	return len(p), nil
}

func TestStandardOutputThatCannotBeWritten(t *testing.T) {
	extension, catalogs := put(t, "kiln.yaml", kiln), "--catalog=hub="+put(t, "hub.jsonl", hub)
	for _, args := range [][]string{
		{"resolve", "-f", extension, catalogs}, {"resolve", "-f", extension, catalogs, "-o", "json"}, {"resolve", "-f", extension, catalogs, "-o", "yaml"},
		{"explain"}, {"explain", "MajorJump"}, {"catalog", "ls", catalogs}, {"catalog", "show", "kiln-operator", catalogs},
		{"config", "defaults"}, {"version"},
	} {
		for _, room := range []int{0, 10} {
			var errs bytes.Buffer
			code := run(t.Context(), args, streams{out: &broken{room}, err: &errs})
			if code != exitUsage || !strings.Contains(errs.String(), errBroken.Error()) {
				t.Errorf("olmgate %s: exit status %d, %q", strings.Join(args, " "), code, errs.String())
			}
		}
	}
}

// TestNothingReachesTheTerminal has names, messages and files with everything that a terminal obeys.
func TestNothingReachesTheTerminal(t *testing.T) {
	const evil = "a\x1b[31mred\x1b]0;title\x07\x08\x7f\u009b31m\r\u202egnp.exe\u200b\u2028\tb"
	quoted := fmt.Sprintf("%q", evil) // JSON and YAML both take these escapes, but for \x
	quoted = strings.NewReplacer(`\x`, `\u00`, `\a`, `\u0007`).Replace(quoted)
	catalog := strings.ReplaceAll(hub, `"stable"`, quoted) +
		`{"schema":"olm.deprecations","package":"kiln-operator","entries":[{"reference":{"schema":"olm.package"},"message":` + quoted + `},{"reference":{"schema":"olm.bundle","name":"kiln-operator.v1.0.0"},"message":"\nresolved  forged"}]}` + "\n"
	catalog = strings.ReplaceAll(catalog, `"image":"x"`, `"image":`+quoted)
	forged := strings.Replace(quoted, "red", `\nresolved  forged`, 1)
	extension := `{"apiVersion":"olm.operatorframework.io/v1","kind":"ClusterExtension","metadata":{"name":` + forged + `},"spec":{"source":{"catalog":{"packageName":"kiln-operator","channels":[` + quoted + `]}}}}`
	failing := strings.Replace(extension, "kiln-operator", forged[1:len(forged)-1], 1)
	other := strings.Replace(extension, `"source":{`, `"source":{"sourceType":`+forged+`,`+forged+`:1,`, 1)
	file := put(t, "x\x1b[31m\ny.json", extension+failing+other)
	hubFile := "--catalog=hub=" + put(t, "hub\x1b[2J.jsonl", catalog)
	broken := "--catalog=hub=" + put(t, "hub\x1b[2J.jsonl", catalog+"\x1b[2J")
	for _, args := range [][]string{
		{"resolve", "-f", file, hubFile, "--explain"}, {"resolve", "-f", file, broken}, {"resolve", "-f", file + evil, hubFile},
		{"catalog", "ls", "--notes", hubFile}, {"catalog", "show", "kiln-operator", hubFile}, {"catalog", "show", "kiln" + evil, hubFile},
		{"explain", evil}, {evil}, {"resolve", "--" + evil}, {"resolve", "-f", file, hubFile, "-o", evil}, {"config", "check", evil}, {"serve", "--log-level", evil},
	} {
		got := olmgate(t, nil, args...)
		for where, text := range map[string]string{"output": got.out, "error": got.err} {
			for _, r := range text {
				if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || strings.ContainsRune("\u202e\u200b\u2028", r)) {
					t.Errorf("olmgate %q: standard %s has %q:\n%q", args, where, r, text)
					break
				}
			}
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "resolved  forged") {
					t.Errorf("olmgate %q: standard %s has a forged line:\n%s", args, where, text)
				}
			}
		}
	}
}
