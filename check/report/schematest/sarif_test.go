package schematest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	// gosec tests its own reports with a copy of the schema, which comes with its module.
	_ "github.com/securego/gosec/v2/cwe"
)

// schema compiles the schema of SARIF 2.1.0.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/securego/gosec/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(strings.TrimSpace(string(dir)), "report", "sarif", "testdata", "sarif-schema-2.1.0.json")
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSARIFIsValid validates the golden files, which the tests of package report keep equal to what olmgate writes.
func TestSARIFIsValid(t *testing.T) {
	s := schema(t)
	files, err := filepath.Glob("../testdata/*.sarif")
	if err != nil || len(files) < 3 {
		t.Fatalf("the golden files are not there: %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(decode(t, text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestTheSchemaRefuses makes sure that the validation would find something.
func TestTheSchemaRefuses(t *testing.T) {
	s := schema(t)
	text, err := os.ReadFile("../testdata/sample.sarif")
	if err != nil {
		t.Fatal(err)
	}
	for _, mistake := range [][2]string{{`"level": "error"`, `"level": "fatal"`}, {`"startLine": 12`, `"startLine": 0`}, {`"ruleId"`, `"rule"`}, {`"2.1.0"`, `"2.2"`}} {
		wrong := bytes.ReplaceAll(text, []byte(mistake[0]), []byte(mistake[1]))
		if bytes.Equal(wrong, text) || s.Validate(decode(t, wrong)) == nil {
			t.Errorf("%s instead of %s must be found", mistake[1], mistake[0])
		}
	}
}
