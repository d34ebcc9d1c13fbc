package report

import (
	"bytes"
	"strings"
	"testing"
)

func TestTextForATerminalIsWrappedAndColoured(t *testing.T) {
	r := &Report{Findings: []Finding{{
		Rule: "PackageNotFound", Level: Error, Message: strings.Repeat("word ", 40), Kind: "ClusterExtension", Name: "kiln", Field: "spec.source",
		Location: Location{File: "a.yaml", Line: 3, Column: 5}, Fixes: []Fix{{Message: "change it"}},
	}}}
	var b bytes.Buffer
	if err := writeText(&b, r, Options{Colour: true, Width: 60}); err != nil {
		t.Fatal(err)
	}
	plain := strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[31m", "", "\x1b[32m", "").Replace(b.String())
	for _, line := range strings.Split(plain, "\n") {
		if len(line) > 60 && !strings.HasPrefix(line, "0 extensions") {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
	if !strings.Contains(b.String(), "\x1b[31merror\x1b[0m") || !strings.HasPrefix(plain, "a.yaml:3:5  error  PackageNotFound  ClusterExtension/kiln\n    word") {
		t.Errorf("got %q", b.String())
	}
}

func TestTextHasNothingThatATerminalWouldObey(t *testing.T) {
	bad := "x\x1b[31m\u202e\u009b31m\ny\x00\xff"
	r := &Report{
		Findings: []Finding{{Rule: bad, Level: Warning, Message: bad, Kind: bad, Name: bad, Field: bad, Location: Location{File: bad, Line: 1}, Fixes: []Fix{{Message: bad}}}},
		Notices:  []string{bad},
		Plan: &Plan{Base: bad, Catalogs: []CatalogChange{{Mark: Changed, Name: bad, What: []string{bad}}}, Changes: []Change{
			{Mark: Broken, Extension: bad, After: &Side{Reason: "x", Message: bad}},
		}},
	}
	var b bytes.Buffer
	if err := writeText(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range b.String() {
		if c != '\n' && (c < 0x20 || c >= 0x7f && c < 0xa0 || c == 0x202e || c == 0xfffd) {
			t.Fatalf("%q", b.String())
		}
	}
	if strings.Contains(b.String(), "\ny") {
		t.Error("a name begins a line of its own")
	}
}
