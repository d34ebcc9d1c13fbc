package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/resolver/casetest"
)

// caseFolders hold the resolution cases; the second may be absent.
var caseFolders = []string{"../../resolver/testdata/cases", "../../resolver/testdata/more"}

// shown are the cases that the command line can show.
func shown(t *testing.T) []casetest.Case {
	var list []casetest.Case
	for _, dir := range caseFolders {
		if _, err := os.Stat(dir); err != nil && dir != caseFolders[0] {
			continue
		}
		cases, err := casetest.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if c.OnCommandLine() {
				list = append(list, c)
			}
		}
	}
	return list
}

// exitFor is the exit status that verdict.md has for one verdict.
var exitFor = map[resolver.Outcome]int{resolver.OutcomeResolved: 0, resolver.OutcomeFailed: 1, resolver.OutcomeUndecided: 3}

func TestCasesOnTheCommandLine(t *testing.T) {
	for _, c := range shown(t) {
		t.Run(c.File, func(t *testing.T) {
			extension, catalogs, err := c.Write(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			args := []string{"resolve", "-f", extension, "--catalogs", catalogs, "--rule", string(c.Rule), "-o"}
			got := olmgate(t, nil, append(args, "json")...)
			if got.err != "" && !strings.Contains(got.err, "is empty, so") {
				t.Errorf("standard error: %s", got.err)
			}
			v := only(t, got.out)
			for _, wrong := range c.Check(v) {
				t.Error(wrong)
			}
			if want := exitFor[v.Outcome]; got.code != want {
				t.Errorf("exit status %d, want %d", got.code, want)
			}
			if want := (&resolver.Location{File: extension, Line: 1}); !cmp.Equal(v.Location, want) {
				t.Errorf("location %+v, want %+v", v.Location, want)
			}
			checkShape(t, got.out)
			if again := olmgate(t, nil, append(args, "json")...); again != got {
				t.Errorf("a second run differs: %s", cmp.Diff(got.out, again.out))
			}
			reverse(t, catalogs)
			if again := olmgate(t, nil, append(args, "json")...); again != got {
				t.Errorf("the order in which the files were made shows: %s", cmp.Diff(got.out, again.out))
			}
			text := olmgate(t, nil, append(args, "text", "--explain")...)
			if text.code != got.code {
				t.Errorf("exit status %d with -o text, %d with -o json", text.code, got.code)
			}
			checkText(t, v, text.out)
		})
	}
}

// only is the one verdict of a list.
func only(t *testing.T, text string) resolver.Verdict {
	t.Helper()
	var list resolver.VerdictList
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if len(list.Items) != 1 {
		t.Fatalf("%d items, want 1", len(list.Items))
	}
	return list.Items[0]
}

// reverse makes the files of a folder again, the last one first, so that the folder lists them in another order.
func reverse(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	for _, f := range files {
		if texts[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(files)
	for _, f := range files {
		if err := os.WriteFile(f, texts[f], 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// checkText makes sure that a person sees all of a verdict.
func checkText(t *testing.T, v resolver.Verdict, out string) {
	t.Helper()
	// Line breaks and indentation are layout.
	flat := strings.Join(strings.Fields(out), " ")
	must := []string{v.Extension, v.Message, v.Field}
	if v.Outcome != resolver.OutcomeResolved {
		must = append(must, string(v.Reason))
	}
	for _, s := range v.Suggestions {
		must = append(must, s.Message)
	}
	for _, n := range v.Notes {
		must = append(must, string(n.Reason)+": "+n.Message)
	}
	for _, c := range v.Trace.Catalogs {
		must = append(must, c.Name, c.Why)
	}
	for _, m := range must {
		if !strings.Contains(flat, strings.Join(strings.Fields(m), " ")) {
			t.Errorf("the text does not have %q:\n%s", m, out)
		}
	}
}

// always and sometimes are the fields of verdict.md.
var (
	always = map[string][]string{
		"":                      {"apiVersion", "kind", "items"},
		".items":                {"extension", "package", "outcome", "reason", "message", "field", "catalog", "deprecations", "notes", "suggestions", "trace"},
		".items.bundle":         {"name", "version", "release", "image"},
		".items.ambiguous":      {"name", "priority"},
		".items.deprecations":   {"scope", "name", "message"},
		".items.notes":          {"reason", "field", "message"},
		".items.suggestions":    {"field", "value", "message"},
		".items.trace":          {"rule", "catalogs"},
		".items.trace.catalogs": {"name", "priority", "considered", "why", "contains", "bundles", "inChannels", "inVersionRange", "upgradable"},
		".items.location":       {"file", "line", "document"},
	}
	sometimes = map[string][]string{".items": {"priority", "bundle", "ambiguous", "location"}}
)

// checkShape compares the JSON with verdict.md: which fields there are, and which must not be.
func checkShape(t *testing.T, text string) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		t.Fatal(err)
	}
	if root["apiVersion"] != "olmgate.dev/v1alpha1" || root["kind"] != "VerdictList" {
		t.Errorf("it is a %v %v", root["apiVersion"], root["kind"])
	}
	checkFields(t, "", root)
	for _, i := range root["items"].([]any) {
		item := i.(map[string]any)
		_, bundle := item["bundle"]
		_, ambiguous := item["ambiguous"]
		_, priority := item["priority"]
		if bundle != (item["outcome"] == "Resolved") {
			t.Errorf("bundle is there: %v, outcome %v", bundle, item["outcome"])
		}
		if ambiguous != (item["reason"] == "AmbiguousCatalogs") {
			t.Errorf("ambiguous is there: %v, reason %v", ambiguous, item["reason"])
		}
		if priority != (item["catalog"] != "") {
			t.Errorf("priority is there: %v, catalog %q", priority, item["catalog"])
		}
	}
}

func checkFields(t *testing.T, path string, object map[string]any) {
	t.Helper()
	allowed := slices.Concat(always[path], sometimes[path])
	for _, must := range always[path] {
		if _, ok := object[must]; !ok {
			t.Errorf("%s.%s is missing", path, must)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := path + "." + name
		if !slices.Contains(allowed, name) {
			t.Errorf("%s is no field of verdict.md", at)
		}
		if at == ".items.suggestions.value" {
			continue // any JSON
		}
		switch v := object[name].(type) {
		case nil:
			t.Errorf("%s is null", at)
		case map[string]any:
			checkFields(t, at, v)
		case []any:
			for _, e := range v {
				if m, ok := e.(map[string]any); ok {
					checkFields(t, at, m)
				}
			}
		}
	}
}
