package report

import (
	"encoding/json"
	"io"

	"github.com/olmgate/olmgate/resolver"
)

func init() { Register("json", writeJSON) }

// document is the form of JSON and YAML: a VerdictList with what a check adds. Fields are only ever added.
type document struct {
	resolver.VerdictList
	Findings []Finding `json:"findings"`
	Accepted []Finding `json:"accepted"`
	Plan     *Plan     `json:"plan,omitempty"`
	Notices  []string  `json:"notices"`
	Summary  Summary   `json:"summary"`
}

func newDocument(r *Report) document {
	var verdicts []resolver.Verdict
	for _, e := range r.Extensions {
		verdicts = append(verdicts, e.Verdict)
	}
	d := document{resolver.NewVerdictList(verdicts), r.Findings, r.Accepted, r.Plan, r.Notices, r.Summary}
	if d.Findings == nil {
		d.Findings = []Finding{}
	}
	if d.Accepted == nil {
		d.Accepted = []Finding{}
	}
	if d.Notices == nil {
		d.Notices = []string{}
	}
	return d
}

func writeJSON(w io.Writer, r *Report, _ Options) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(newDocument(r))
}
