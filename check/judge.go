package check

import (
	"context"
	"runtime"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"golang.org/x/sync/errgroup"

	"github.com/olmgate/olmgate/check/report"
	"github.com/olmgate/olmgate/config"
	"github.com/olmgate/olmgate/resolver"
)

// judged is an object with what was found out about it.
type judged struct {
	*object
	verdict  *resolver.Verdict
	from     string
	findings []report.Finding
}

// judge is how the objects of one side are looked at.
type judge struct {
	catalogs []resolver.Catalog
	config   *config.CheckConfiguration
	rule     resolver.Rule
	// schemaOnly leaves resolution out.
	schemaOnly bool
	// installed gives the installed state of an extension, and where it is from; false for that of the manifest.
	installed func(name string) (status *ocv1.ClusterExtensionStatus, from string, known bool)
}

// all judges objects side by side, and keeps their order.
func (j *judge) all(ctx context.Context, objects []*object) ([]*judged, error) {
	list := make([]*judged, len(objects))
	var group errgroup.Group
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	const batch = 32
	for start := 0; start < len(objects); start += batch {
		group.Go(func() error {
			for i := start; i < min(start+batch, len(objects)); i++ {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				list[i] = j.one(objects[i])
			}
			return nil
		})
	}
	return list, group.Wait()
}

func (j *judge) one(o *object) *judged {
	d := &judged{object: o, from: "none", findings: bySchema(j.config, o.findings)}
	if o.ext == nil || j.schemaOnly || !resolver.Judges(o.ext) {
		return d
	}
	if o.ext.Status.Install != nil {
		d.from = "manifest"
	}
	if j.installed != nil {
		if status, from, known := j.installed(o.ext.Name); known {
			o.ext.Status, d.from = *status, from
		}
	}
	v := resolver.Resolve(o.ext, j.catalogs, j.rule)
	place := o.where("")
	v.Location = &resolver.Location{File: place.File, Line: place.Line, Document: place.Document}
	d.verdict = &v
	d.verdictFindings(j.config)
	return d
}

// verdictFindings adds what the verdict comes to under the policy.
func (d *judged) verdictFindings(c *config.CheckConfiguration) {
	v := d.verdict
	switch v.Outcome {
	case resolver.OutcomeFailed:
		level, shown := failure(c, v.Reason)
		if !shown || v.Reason == resolver.MissingCatalogSource && d.explained() {
			break
		}
		f := d.finding(string(v.Reason), level, v.Field, "%s", v.Message)
		for _, s := range v.Suggestions {
			f.Fixes = append(f.Fixes, report.Fix{Field: s.Field, Value: s.Value, Message: s.Message})
		}
		if why := spared(c, d.ext); why != "" && level == report.Error {
			f.Level = report.Warning
			f.Message += " (a warning only, by the annotation " + bypassAnnotation + ": " + why + ")"
		}
		if f.Level == report.Error { // or what the API server refuses would pass for a warning
			d.findings = withoutRepeats(d.findings, v)
		}
		d.findings = append(d.findings, f)
	case resolver.OutcomeUndecided:
		if c.Policy.Undecided != config.ActionIgnore {
			d.findings = append(d.findings, d.about(string(v.Reason), report.Undecided, v.Field, v.Message))
		}
	}
	for _, n := range v.Notes {
		if level, shown := note(c, n.Reason); shown {
			d.findings = append(d.findings, d.about(string(n.Reason), level, n.Field, n.Message))
		}
	}
}

// about is a finding that stands at the package when it blames no field.
func (d *judged) about(rule string, level report.Level, field, message string) report.Finding {
	f := d.finding(rule, level, field, "%s", message)
	if field == "" {
		f.Location = d.where("spec.source.catalog.packageName")
	}
	return f
}

// explained reports whether a finding about the shape says already why there is no source.
func (d *judged) explained() bool {
	for i := range d.findings {
		switch d.findings[i].Rule {
		case report.OldAPI, report.OldField, report.UnknownField:
			return true
		}
	}
	return false
}

// withoutRepeats leaves out what the schema says about a field that the verdict explains better.
func withoutRepeats(list []report.Finding, v *resolver.Verdict) []report.Finding {
	switch v.Reason {
	case resolver.InvalidVersionRange, resolver.InvalidSelector, resolver.MissingCatalogSource:
	default:
		return list
	}
	kept := list[:0]
	for _, f := range list {
		same := f.Field != "" && (strings.HasPrefix(v.Field+".", f.Field+".") || strings.HasPrefix(f.Field+".", v.Field+"."))
		if !same || f.Rule != report.MissingField && f.Rule != report.InvalidValue {
			kept = append(kept, f)
		}
	}
	return kept
}
