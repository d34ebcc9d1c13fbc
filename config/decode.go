package config

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// maxFileBytes bounds the file. The longest sensible one has a few kilobytes.
const maxFileBytes = 1 << 20

// Load reads a configuration file. It does not validate, since flags may still override: call Validate after that.
func Load(path string) (OlmgateConfiguration, error) {
	f, err := os.Open(path)
	if err != nil {
		return OlmgateConfiguration{}, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return OlmgateConfiguration{}, fmt.Errorf("read the configuration %s: %w", path, err)
	}
	c, err := Decode(data)
	if err != nil {
		return OlmgateConfiguration{}, fmt.Errorf("read the configuration %s: %w", path, err)
	}
	return c, nil
}

// Decode reads a configuration, YAML or JSON, over the defaults. Unknown and duplicate fields are errors of type
// Errors, as are values of the wrong type.
func Decode(data []byte) (OlmgateConfiguration, error) {
	if len(data) > maxFileBytes {
		return OlmgateConfiguration{}, fmt.Errorf("the configuration is larger than %d bytes", maxFileBytes)
	}
	if err := checkDocument(data); err != nil {
		return OlmgateConfiguration{}, err
	}
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		return OlmgateConfiguration{}, fmt.Errorf("the configuration is not YAML: %w", err)
	}
	c := Default()
	c.APIVersion, c.Kind = "", ""
	strict, err := kjson.UnmarshalStrict(asJSON, &c)
	if err != nil {
		return OlmgateConfiguration{}, typeError(err)
	}
	var errs Errors
	for _, e := range strict {
		errs.add(strictError(e))
	}
	switch {
	case c.APIVersion != APIVersion:
		errs.add("apiVersion", fmt.Sprintf("is %q, must be %s", c.APIVersion, APIVersion))
	case c.Kind != Kind:
		errs.add("kind", fmt.Sprintf("is %q, must be %s", c.Kind, Kind))
	}
	if err := errs.err(); err != nil {
		return OlmgateConfiguration{}, err
	}
	return c, nil
}

// checkDocument finds what the conversion to JSON would hide: fields that stand twice, and a second document.
func checkDocument(data []byte) error {
	d := yamlv3.NewDecoder(bytes.NewReader(data))
	var doc, second yamlv3.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return Errors{{Problem: "the configuration is empty: write at least apiVersion and kind"}}
	} else if err != nil {
		return fmt.Errorf("the configuration is not YAML: %w", err)
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return Errors{{Problem: "the configuration has more than one YAML document: keep one"}}
	}
	var errs Errors
	findDuplicates(&doc, "", &errs)
	return errs.err()
}

func findDuplicates(n *yamlv3.Node, path string, errs *Errors) {
	switch n.Kind {
	case yamlv3.DocumentNode:
		for _, c := range n.Content {
			findDuplicates(c, path, errs)
		}
	case yamlv3.SequenceNode:
		for i, c := range n.Content {
			findDuplicates(c, fmt.Sprintf("%s[%d]", path, i), errs)
		}
	case yamlv3.MappingNode:
		first := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, at := n.Content[i].Value, strings.TrimPrefix(path+"."+n.Content[i].Value, ".")
			if line, ok := first[key]; ok {
				errs.add(at, fmt.Sprintf("stands twice, in line %d and in line %d: keep one", line, n.Content[i].Line))
			} else {
				first[key] = n.Content[i].Line
			}
			findDuplicates(n.Content[i+1], at, errs)
		}
	}
}

var strictPattern = regexp.MustCompile(`^(unknown|duplicate) field "(.*)"$`)

// strictError turns a report of the strict decoder into a path and a problem.
func strictError(err error) (path, problem string) {
	m := strictPattern.FindStringSubmatch(err.Error())
	if m == nil {
		return "", err.Error()
	}
	if m[1] == "duplicate" {
		return m[2], "stands twice: keep one"
	}
	parent, name := "", m[2]
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		parent, name = name[:i], name[i+1:]
	}
	return m[2], "unknown field" + didYouMean(name, fieldsOf(parent))
}

// typeError turns a mismatch of types into a path and a problem.
func typeError(err error) error {
	var t *stdjson.UnmarshalTypeError
	if !errors.As(err, &t) {
		return fmt.Errorf("decode the configuration: %w", err)
	}
	return Errors{{Path: t.Field, Problem: fmt.Sprintf("is a %s, must be %s", t.Value, typeName(t.Type))}}
}
