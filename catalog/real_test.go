package catalog

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// realCatalog returns the text of a real catalog, or skips the test when the folder is absent.
func realCatalog(t testing.TB, name string) []byte {
	t.Helper()
	dir := os.Getenv("OLMGATE_CATALOGS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "catalogs")
	}
	f, err := os.Open(filepath.Join(dir, name+".jsonl.zst"))
	if err != nil {
		t.Skipf("real catalogs are not here (set OLMGATE_CATALOGS to their folder): %v", err)
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

func TestTmpSpeed(t *testing.T) {
	for _, n := range []string{"operatorhubio", "community", "certified", "rhmp"} {
		text := realCatalog(t, n)
		for range 3 {
			t0 := time.Now()
			x, err := Read(bytes.NewReader(text), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			d := time.Since(t0)
			t.Logf("%s %v %.0f MB/s %+v notes %d", n, d, float64(len(text))/1e6/d.Seconds(), x.Stats(), len(x.Notes()))
		}
	}
}
