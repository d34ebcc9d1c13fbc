package config

import (
	_ "embed"
	"encoding/json"
	"strings"
	"text/template"
)

//go:embed defaults.yaml.tmpl
var defaultsTemplate string

var defaults = template.Must(template.New("defaults").Funcs(template.FuncMap{
	"json": func(v any) (string, error) {
		b, err := json.Marshal(v)
		return string(b), err
	},
}).Parse(defaultsTemplate))

type namedAction struct{ Name, Action string }

// DefaultsYAML is a configuration file that says what happens without one, every field with a comment.
func DefaultsYAML(known Names) (string, error) {
	c := Default()
	data := struct {
		OlmgateConfiguration
		Failures, Notes []namedAction
	}{
		OlmgateConfiguration: c,
		Failures:             expand(known.Failures, c.Policy.Reasons, ActionDeny),
		Notes:                expand(known.Notes, c.Policy.Notes, ActionWarn),
	}
	var out strings.Builder
	if err := defaults.Execute(&out, data); err != nil {
		return "", err
	}
	return out.String(), nil
}

// expand names the action of every reason.
func expand(names []string, actions map[string]string, otherwise string) []namedAction {
	out := make([]namedAction, len(names))
	for i, name := range names {
		out[i] = namedAction{Name: name, Action: otherwise}
		if a, ok := actions[name]; ok {
			out[i].Action = a
		}
	}
	return out
}
