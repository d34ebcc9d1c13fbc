package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// render writes a report in a format.
func render(t testing.TB, format string, r *Report, o Options) string {
	t.Helper()
	w, err := ByName(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := w(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: run with -update after looking at this: %s", file, diff)
	}
}

// TestGolden compares what each format makes of a full report, of one without findings, and of one without objects.
func TestGolden(t *testing.T) {
	endings := map[string]string{"junit": "junit.xml", "sarif": "sarif", "github": "github.txt", "gitlab": "gitlab.json", "markdown": "md"}
	for format, ending := range endings {
		t.Run(format, func(t *testing.T) {
			for name, r := range map[string]*Report{"sample": sample(t), "clean": clean(t), "empty": empty()} {
				golden(t, name+"."+ending, render(t, format, r, options))
			}
		})
	}
}

func TestEveryFormatIsDeterministic(t *testing.T) {
	for _, format := range Formats() {
		if a, b := render(t, format, sample(t), options), render(t, format, sample(t), options); a != b {
			t.Errorf("%s: two runs differ: %s", format, cmp.Diff(a, b))
		}
	}
}
