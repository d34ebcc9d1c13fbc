package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	yamlv3 "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/olmgate/olmgate/config"
	"github.com/olmgate/olmgate/docs"
	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/resolver/casetest"
	"github.com/olmgate/olmgate/status"
)

var update = flag.Bool("update", false, "write the table of the status writer's metrics")

// root is the top of the module, seen from this package.
const root = ".."

func TestEveryReasonHasOnePage(t *testing.T) {
	known := map[string]bool{}
	for _, r := range slices.Concat(resolver.Failures(), resolver.Notes(), []resolver.Reason{resolver.CatalogContentUnavailable}) {
		known[string(r)] = true
	}
	pages := map[string]int{}
	for _, name := range docs.ReasonNames() {
		pages[name]++
		if !known[name] {
			t.Errorf("docs/reasons.md has a page of %q, which is no reason or note", name)
		}
	}
	for name := range known {
		if pages[name] != 1 {
			t.Errorf("docs/reasons.md has %d pages of %s, must have 1", pages[name], name)
		}
	}
}

func TestReasonSummariesFitATable(t *testing.T) {
	for _, page := range docs.Reasons() {
		first, _, _ := strings.Cut(page.Text, "\n")
		switch n := utf8.RuneCountInString(page.Summary); {
		case n == 0:
			t.Errorf("%s: there is no summary", page.Name)
		case n > 110:
			t.Errorf("%s: the summary has %d characters, at most 110 fit: %s", page.Name, n, page.Summary)
		case !strings.HasPrefix(first, page.Summary+"."):
			t.Errorf("%s: the first sentence must end with a period on the first line: %q", page.Name, first)
		case strings.Contains(page.Summary, "."):
			t.Errorf("%s: a period inside of the summary: %q", page.Name, page.Summary)
		}
	}
}

func TestReasonPagesSayTheDefaultAndWhatToDo(t *testing.T) {
	defaults := config.Default().Policy
	for _, page := range docs.Reasons() {
		want := "Warn"
		if slices.Contains(resolver.Failures(), resolver.Reason(page.Name)) {
			if want = defaults.Reasons[page.Name]; want == "" {
				want = "Deny"
			}
		}
		text := strings.Join(strings.Fields(page.Text), " ")
		for _, must := range []string{"Default: " + want, "What to do: ", "```text"} {
			if !strings.Contains(text, must) {
				t.Errorf("%s: %q is missing", page.Name, must)
			}
		}
	}
}

// TestReasonExamplesAreRealMessages makes sure that every example on a page is what olmgate says in a case of the
// resolver's tests.
func TestReasonExamplesAreRealMessages(t *testing.T) {
	said := messages(t)
	for _, page := range docs.Reasons() {
		_, examples, found := strings.Cut(page.Text, "\nExample:\n")
		if !found {
			t.Errorf("%s: there is no example", page.Name)
		}
		for _, block := range fences(examples) {
			if text := strings.TrimSpace(block.text); !said[resolver.Reason(page.Name)][text] {
				t.Errorf("%s: no test case says %q", page.Name, text)
			}
		}
	}
}

// messages are what the cases and two more extensions are told, by reason.
func messages(t *testing.T) map[resolver.Reason]map[string]bool {
	said := map[resolver.Reason]map[string]bool{}
	add := func(r resolver.Reason, text string) {
		if said[r] == nil {
			said[r] = map[string]bool{}
		}
		said[r][text] = true
	}
	listen := func(ext *ocv1.ClusterExtension, inputs []resolver.Catalog, rule resolver.Rule) {
		v := resolver.Resolve(ext, inputs, rule)
		add(v.Reason, v.Message)
		for _, n := range v.Notes {
			add(n.Reason, n.Message)
		}
	}
	cases, err := casetest.Load(filepath.Join(root, "resolver/testdata/cases"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		inputs, err := c.Inputs()
		if err != nil {
			t.Fatal(err)
		}
		listen(c.ClusterExtension(), inputs, c.Rule)
		unknown := c.ClusterExtension()
		unknown.Status = ocv1.ClusterExtensionStatus{Conditions: []metav1.Condition{{Type: "Installed", Status: metav1.ConditionUnknown}}}
		listen(unknown, inputs, c.Rule)
	}
	listen(&ocv1.ClusterExtension{}, nil, resolver.RulePackage)
	return said
}

// TestYAMLInPages decodes every YAML block. Objects of known kinds are decoded strictly; fragments of an extension too.
func TestYAMLInPages(t *testing.T) {
	names := config.Names{Rules: []string{string(resolver.RulePackage), string(resolver.RuleBundle)}}
	for _, r := range resolver.Failures() {
		names.Failures = append(names.Failures, string(r))
	}
	for _, r := range resolver.Notes() {
		names.Notes = append(names.Notes, string(r))
	}
	for _, file := range pages(t) {
		for _, block := range fences(read(t, file)) {
			if block.language != "yaml" {
				continue
			}
			var head struct{ Kind, Schema string }
			err := yaml.Unmarshal([]byte(block.text), &head)
			switch {
			case err != nil:
			case head.Kind == "ClusterExtension":
				err = yaml.UnmarshalStrict([]byte(block.text), &ocv1.ClusterExtension{})
			case head.Kind == "ClusterCatalog":
				err = yaml.UnmarshalStrict([]byte(block.text), &ocv1.ClusterCatalog{})
			case head.Kind == config.Kind:
				var c config.OlmgateConfiguration
				if c, err = config.Decode([]byte(block.text)); err == nil {
					err = c.Validate(names)
				}
			case strings.HasPrefix(block.text, "spec:"):
				err = yaml.UnmarshalStrict([]byte(block.text), &struct{ Spec ocv1.ClusterExtensionSpec }{})
			}
			if err != nil {
				t.Errorf("%s: %v in\n%s", file, err, block.text)
			}
		}
	}
}

// TestGoInPages runs the programs of the pages; a text block that follows one is what it prints.
func TestGoInPages(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	for _, file := range pages(t) {
		blocks := fences(read(t, file))
		for i, block := range blocks {
			if block.language != "go" || !strings.HasPrefix(block.text, "package main\n") {
				continue
			}
			want := ""
			if i+1 < len(blocks) && blocks[i+1].language == "text" {
				want = blocks[i+1].text
			}
			if got := run(t, block.text); got != want {
				t.Errorf("%s: the program prints\n%s\nthe page says\n%s", file, got, want)
			}
		}
	}
}

// run builds and runs a program inside the module, which it may then import, without writing into the tree.
func run(t *testing.T, program string) string {
	dir := t.TempDir()
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "main.go")
	overlay, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(module, "docs", "program", "main.go"): source},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{source: []byte(program), filepath.Join(dir, "overlay.json"): overlay} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "-overlay", filepath.Join(dir, "overlay.json"), "./docs/program")
	cmd.Dir = module
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v: %s", err, stderr.String())
	}
	return string(out)
}

// TestTranscriptsInPages repeats what the pages show of olmgate: a line "$ olmgate ..." and what it prints. The output of
// "$ cat FILE" is put into that file first; other commands are passed over.
func TestTranscriptsInPages(t *testing.T) {
	program := build(t)
	dir := t.TempDir()
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(module, "e2e"), filepath.Join(dir, "e2e")); err != nil {
		t.Fatal(err)
	}
	for _, file := range pages(t) {
		for _, b := range fences(read(t, file)) {
			if b.language != "text" || !strings.HasPrefix(b.text, "$ ") {
				continue
			}
			for _, part := range strings.Split(strings.TrimPrefix(b.text, "$ "), "\n$ ") {
				command, want, _ := strings.Cut(part, "\n")
				words := strings.Fields(command)
				switch words[0] {
				case "cat":
					if err := os.WriteFile(filepath.Join(dir, words[1]), []byte(want), 0o600); err != nil {
						t.Fatal(err)
					}
				case "olmgate", "bin/olmgate":
					cmd := exec.CommandContext(t.Context(), program, words[1:]...)
					cmd.Dir = dir
					out, _ := cmd.CombinedOutput() // a failed verdict sets the exit status
					if got := strings.TrimSpace(string(out)); got != strings.TrimSpace(want) {
						t.Errorf("%s: %s prints\n%s\nthe page says\n%s", file, command, got, want)
					}
				}
			}
		}
	}
}

// TestFlagsAreDocumented looks for every flag of the verbs in the pages about them.
func TestFlagsAreDocumented(t *testing.T) {
	program := build(t)
	text := read(t, "docs/cli.md") + read(t, "docs/configuration.md") + read(t, "docs/check.md")
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, +)?(--[a-z-]+)`)
	for _, verb := range []string{"resolve", "status", "outdated", "explain", "catalog ls", "catalog show", "catalog snapshot", "catalog inspect", "catalog diff", "config defaults", "config check", "serve", "status-writer", "check", "version"} {
		out, err := exec.CommandContext(t.Context(), program, append(strings.Fields(verb), "--help")...).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range flag.FindAllStringSubmatch(string(out), -1) {
			if m[1] != "--help" && !strings.Contains(text, m[1]+"`") && !strings.Contains(text, m[1]+" ") {
				t.Errorf("olmgate %s: the flag %s is in no page", verb, m[1])
			}
		}
	}
}

// build builds olmgate, once for all tests.
func build(t *testing.T) string {
	if testing.Short() {
		t.Skip("builds olmgate")
	}
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// scratch is a directory for all tests.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "olmgate-docs-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

var binary = sync.OnceValues(func() (string, error) {
	program := filepath.Join(scratch, "olmgate")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-o", program, "./cmd/olmgate")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building olmgate: %w: %s", err, out)
	}
	return program, nil
})

func TestFieldsAreDocumented(t *testing.T) {
	raw, err := json.Marshal(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	text := read(t, "docs/configuration.md")
	var look func(prefix string, fields map[string]any)
	look = func(prefix string, fields map[string]any) {
		for name, value := range fields {
			at := prefix + name
			if inner, ok := value.(map[string]any); ok && !strings.HasPrefix(at, "policy.") {
				look(at+".", inner)
			} else if !strings.Contains(text, "`"+at+"`") {
				t.Errorf("docs/configuration.md does not mention %s", at)
			}
		}
	}
	look("", fields)
}

// TestTheStatusMetricsAreDocumented compares their table in docs/metrics.md with what the status writer registers. The
// webhook's own tests do so for the webhook's table.
func TestTheStatusMetricsAreDocumented(t *testing.T) {
	var want strings.Builder
	want.WriteString("| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n")
	for _, d := range status.MetricDocs() {
		labels := "none"
		if len(d.Labels) > 0 {
			labels = "`" + strings.Join(d.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", d.Name, d.Type, labels, strings.TrimSpace(d.Help+" "+d.Values))
	}
	const file, begin, end = "docs/metrics.md", "<!-- status metrics: begin -->\n", "<!-- status metrics: end -->"
	before, rest, _ := strings.Cut(read(t, file), begin)
	table, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no table of the status writer's metrics", file)
	}
	if diff := cmp.Diff(want.String(), table); diff != "" {
		if *update {
			if err := os.WriteFile(filepath.Join(root, file), []byte(before+begin+want.String()+end+after), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("run with -update: %s", diff)
	}
}

func TestTargetsAreDocumented(t *testing.T) {
	text := read(t, "CONTRIBUTING.md")
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):.*## `).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		if !strings.Contains(text, "`make "+m[1]+"`") {
			t.Errorf("CONTRIBUTING.md does not mention make %s", m[1])
		}
	}
}

// TestLinks makes sure that the links of the pages lead to files and headings that exist. Addresses on the web are not
// called.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, file := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(withoutFences(read(t, file)), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			name, anchor, _ := strings.Cut(m[1], "#")
			to := file
			if name != "" {
				to = path.Join(path.Dir(file), name)
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", file, m[1], err)
				continue
			}
			if anchor != "" && !slices.Contains(anchors(read(t, to)), anchor) {
				t.Errorf("%s: the link %s: %s has no heading #%s", file, m[1], to, anchor)
			}
		}
	}
}

// TestDecisionsAreNumbered keeps the records of decisions in one line, each with its three parts.
func TestDecisionsAreNumbered(t *testing.T) {
	n := 0
	for _, file := range pages(t) {
		if path.Dir(file) != "docs/decisions" {
			continue
		}
		n++
		if !strings.HasPrefix(path.Base(file), fmt.Sprintf("%03d-", n)) {
			t.Errorf("%s: the next number is %03d", file, n)
		}
		for _, part := range []string{"context", "choice", "price"} {
			if !slices.Contains(anchors(read(t, file)), part) {
				t.Errorf("%s: the heading %q is missing", file, part)
			}
		}
	}
}

// pages are the Markdown files that these tests look at, as paths below root.
func pages(t *testing.T) []string {
	list := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	err := fs.WalkDir(os.DirFS(root), "docs", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(name) == ".md" {
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// block is a fenced block of a page.
type block struct{ language, text string }

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

func fences(text string) []block {
	var list []block
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		list = append(list, block{m[1], m[2]})
	}
	return list
}

func withoutFences(text string) string { return fence.ReplaceAllString(text, "") }

// anchors are the names under which the headings of a page can be linked to, as GitHub forms them.
func anchors(text string) []string {
	var list []string
	for _, line := range strings.Split(withoutFences(text), "\n") {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		list = append(list, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title)))
	}
	return list
}

// TestYAMLBlocksAreSingleDocuments makes sure that TestYAMLInPages sees all of a block.
func TestYAMLBlocksAreSingleDocuments(t *testing.T) {
	for _, file := range pages(t) {
		for _, b := range fences(read(t, file)) {
			if b.language != "yaml" {
				continue
			}
			var first, second yamlv3.Node
			d := yamlv3.NewDecoder(strings.NewReader(b.text))
			if d.Decode(&first) == nil && d.Decode(&second) == nil {
				t.Errorf("%s: more than one document in\n%s", file, b.text)
			}
		}
	}
}
