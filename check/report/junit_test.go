package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// element is what the schema allows of an element: the structure of the schema junit-10 of Jenkins' xUnit plugin.
type element struct {
	attributes, required, children []string
	text                           bool
}

var junitSchema = map[string]element{
	"testsuites": {attributes: []string{"name", "time", "tests", "failures", "errors"}, children: []string{"testsuite"}},
	"testsuite": {
		attributes: []string{"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
		required:   []string{"name", "tests", "failures", "errors"},
		children:   []string{"testsuite", "properties", "testcase", "system-out", "system-err"},
	},
	"testcase": {
		attributes: []string{"name", "time", "classname", "group"}, required: []string{"name"},
		children: []string{"skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError", "system-out", "system-err"},
	},
	"failure":    {attributes: []string{"type", "message"}, text: true},
	"error":      {attributes: []string{"type", "message"}, text: true},
	"skipped":    {attributes: []string{"type", "message"}, text: true},
	"system-out": {text: true},
	"system-err": {text: true},
}

// junitFaults compares a document with the schema, and the counts of suites with what is in them.
func junitFaults(document string) (faults []string) {
	fail := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	d := xml.NewDecoder(strings.NewReader(document))
	var path []string
	counts := map[string]int{}
	var claimed map[string]string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if len(path) > 0 {
				fail("%v is not closed", path)
			}
			return faults
		}
		if err != nil {
			return append(faults, err.Error())
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			rule, known := junitSchema[name]
			switch {
			case !known:
				fail("unknown element %s", name)
			case len(path) == 0 && name != "testsuites":
				fail("the root is %s", name)
			case len(path) > 0 && !slices.Contains(junitSchema[path[len(path)-1]].children, name):
				fail("%s in %v", name, path)
			}
			var there []string
			values := map[string]string{}
			for _, a := range token.Attr {
				there = append(there, a.Name.Local)
				values[a.Name.Local] = a.Value
				if !slices.Contains(rule.attributes, a.Name.Local) {
					fail("unknown attribute %s of %s", a.Name.Local, name)
				}
			}
			for _, r := range rule.required {
				if !slices.Contains(there, r) {
					fail("%s without %s", name, r)
				}
			}
			if name == "testsuite" {
				claimed, counts = values, map[string]int{}
			}
			counts[name]++
			path = append(path, name)
		case xml.EndElement:
			if token.Name.Local == "testsuite" {
				for attribute, element := range map[string]string{"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"} {
					if claimed[attribute] != strconv.Itoa(counts[element]) {
						fail("a suite says %s=%s and has %d", attribute, claimed[attribute], counts[element])
					}
				}
			}
			path = path[:len(path)-1]
		case xml.CharData:
			if len(path) > 0 && strings.TrimSpace(string(token)) != "" && !junitSchema[path[len(path)-1]].text {
				fail("text in %v", path)
			}
		}
	}
}

func TestJUnitFollowsTheSchema(t *testing.T) {
	for name, r := range map[string]*Report{"sample": sample(t), "clean": clean(t), "empty": empty(), "many": many(30)} {
		if faults := junitFaults(render(t, "junit", r, options)); len(faults) > 0 {
			t.Errorf("%s: %q", name, faults)
		}
	}
}

func TestJUnitHoldsAnyText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := many(2)
		for i := range r.Findings {
			f := &r.Findings[i]
			f.Message, f.Name, f.Field, f.File = rapid.String().Draw(rt, "message"), rapid.String().Draw(rt, "name"), rapid.String().Draw(rt, "field"), rapid.String().Draw(rt, "file")
		}
		if faults := junitFaults(render(t, "junit", r, options)); len(faults) > 0 {
			rt.Errorf("%q", faults)
		}
	})
}

func TestJUnitFailsWhatFailsTheCheck(t *testing.T) {
	for level, want := range map[Level]int{Error: 5, Warning: 6, Undecided: 7} {
		o := options
		o.FailOn = level
		if got := strings.Count(render(t, "junit", sample(t), o), "<failure "); got != want {
			t.Errorf("--fail-on %s: %d failures, want %d", level, got, want)
		}
	}
}

func TestJUnitTestsHaveNamesOfTheirOwn(t *testing.T) {
	r := many(3)
	for i := range r.Findings {
		r.Findings[i].Name = "kiln"
	}
	out := render(t, "junit", r, options)
	for _, want := range []string{`spec.serviceAccount"`, `spec.serviceAccount #2"`, `spec.serviceAccount #3"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is missing in %s", want, out)
		}
	}
}
