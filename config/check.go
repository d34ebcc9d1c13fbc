package config

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// CheckKind is the kind of a CheckConfiguration.
const CheckKind = "CheckConfiguration"

// CheckConfiguration is how olmgate check behaves in a repository. Paths are relative to the file.
type CheckConfiguration struct {
	// APIVersion is config.olmgate.dev/v1alpha1.
	APIVersion string `json:"apiVersion"`
	// Kind is CheckConfiguration.
	Kind string `json:"kind"`
	// Rule selects among catalogs: Package or Bundle.
	Rule string `json:"rule"`
	// Policy says what each reason leads to, as in an OlmgateConfiguration: Deny makes an error, Warn a warning.
	Policy Policy `json:"policy"`
	// Objects says the same of the rules about the objects themselves.
	Objects map[string]string `json:"objects"`
	// BypassAnnotation is whether olmgate.dev/bypass turns an error about the verdict into a warning.
	BypassAnnotation bool `json:"bypassAnnotation"`
	// FailOn is the level from which findings make the check fail: error, warning or undecided.
	FailOn string `json:"failOn"`
	// RequireObjects makes it an error to find nothing.
	RequireObjects bool `json:"requireObjects"`
	// Exclude are globs of files that are not read.
	Exclude []string `json:"exclude"`
	// Catalogs is a directory with catalogs, "" for none.
	Catalogs string `json:"catalogs"`
	// Snapshots are files of olmgate catalog snapshot.
	Snapshots []string `json:"snapshots"`
	// Baseline is the file of accepted findings, "" for none.
	Baseline string `json:"baseline"`

	// warnOnly is mode Warn of the webhook's file.
	warnOnly bool
}

// WarnOnly reports whether what the policy denies is a warning only, as in the webhook's mode Warn.
func (c *CheckConfiguration) WarnOnly() bool { return c.warnOnly }

// DefaultCheck is what holds without a file.
func DefaultCheck() CheckConfiguration {
	d := Default()
	return CheckConfiguration{
		APIVersion: APIVersion, Kind: CheckKind, Rule: d.Rule, Policy: d.Policy, Objects: map[string]string{},
		BypassAnnotation: true, FailOn: "error", Exclude: []string{}, Snapshots: []string{},
	}
}

// LoadCheck reads a file. That of the webhook will do too: its rule, mode and policy count then.
func LoadCheck(path string) (CheckConfiguration, error) {
	f, err := os.Open(path)
	if err != nil {
		return CheckConfiguration{}, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil {
		var c CheckConfiguration
		if c, err = DecodeCheck(data); err == nil {
			return c, nil
		}
	}
	return CheckConfiguration{}, fmt.Errorf("read the configuration %s: %w", path, err)
}

// DecodeCheck reads a configuration over the defaults, as strictly as Decode.
func DecodeCheck(data []byte) (CheckConfiguration, error) {
	if len(data) > maxFileBytes {
		return CheckConfiguration{}, fmt.Errorf("the configuration is larger than %d bytes", maxFileBytes)
	}
	if err := checkDocument(data); err != nil {
		return CheckConfiguration{}, err
	}
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		return CheckConfiguration{}, fmt.Errorf("the configuration is not YAML: %w", err)
	}
	var head struct {
		Kind string `json:"kind"`
	}
	if kjson.UnmarshalCaseSensitivePreserveInts(asJSON, &head) == nil && head.Kind == Kind {
		return fromWebhook(data)
	}
	c := DefaultCheck()
	c.APIVersion, c.Kind = "", ""
	strict, err := kjson.UnmarshalStrict(asJSON, &c)
	if err != nil {
		return CheckConfiguration{}, typeError(err)
	}
	var errs Errors
	for _, e := range strict {
		errs.add(strictCheckError(e))
	}
	switch {
	case c.APIVersion != APIVersion:
		errs.add("apiVersion", fmt.Sprintf("is %q, must be %s", c.APIVersion, APIVersion))
	case c.Kind != CheckKind:
		errs.add("kind", fmt.Sprintf("is %q, must be %s", c.Kind, CheckKind))
	}
	return c, errs.err()
}

// fromWebhook takes what concerns a check from the configuration of the webhook.
func fromWebhook(data []byte) (CheckConfiguration, error) {
	o, err := Decode(data)
	if err != nil {
		return CheckConfiguration{}, err
	}
	c := DefaultCheck()
	c.Rule, c.Policy, c.BypassAnnotation = o.Rule, o.Policy, o.BreakGlass.Annotation
	c.warnOnly = o.Mode == ModeWarn
	return c, nil
}

func strictCheckError(err error) (path, problem string) {
	path, problem = strictError(err)
	if m := strictPattern.FindStringSubmatch(err.Error()); m != nil && m[1] == "unknown" {
		name := m[2]
		known := namesOf(reflect.TypeFor[CheckConfiguration]())
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			name, known = name[i+1:], namesOf(reflect.TypeFor[Policy]())
		}
		problem = "unknown field" + didYouMean(name, known)
	}
	return path, problem
}

func namesOf(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			continue
		}
		if name := jsonName(t.Field(i)); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// Validate reports all values that make no sense, as Errors. objects are the names of the rules about objects.
func (c *CheckConfiguration) Validate(known Names, objects []string) error {
	var errs Errors
	oneOf(&errs, "rule", c.Rule, known.Rules...)
	reasons(&errs, "policy.reasons", c.Policy.Reasons, known.Failures, ActionDeny, ActionWarn, ActionIgnore)
	oneOf(&errs, "policy.undecided", c.Policy.Undecided, ActionWarn, ActionIgnore)
	reasons(&errs, "policy.notes", c.Policy.Notes, known.Notes, ActionWarn, ActionIgnore)
	reasons(&errs, "objects", c.Objects, objects, ActionDeny, ActionWarn, ActionIgnore)
	oneOf(&errs, "failOn", c.FailOn, "error", "warning", "undecided")
	notBlank(&errs, "exclude", c.Exclude)
	notBlank(&errs, "snapshots", c.Snapshots)
	return errs.err()
}
