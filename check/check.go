package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/check/report"
	"github.com/olmgate/olmgate/config"
	"github.com/olmgate/olmgate/resolver"
)

// Options say what is checked, and how.
type Options struct {
	Inputs Inputs
	// Config has the policy; the zero value is not one, see config.DefaultCheck.
	Config config.CheckConfiguration
	// Catalogs are those that are known from elsewhere than the inputs, by name. Pull is asked for the images of
	// ClusterCatalogs in the inputs whose content is not among them; nil for never.
	Catalogs []Known
	Pull     Pull
	// NoSource is whether nothing but the inputs can have catalogs: then one must be there.
	NoSource bool
	// SchemaOnly looks at the objects themselves and resolves nothing.
	SchemaOnly bool
	// Installed are the extensions whose status counts in the place of the manifests', by name; nil for none. Those that
	// the inputs have no manifest of are in the plan when a change of catalogs moves them. InstalledFrom says where they
	// are from.
	Installed     map[string]*ocv1.ClusterExtension
	InstalledFrom string
	// Base is what a plan compares with, nil for no plan.
	Base *Base
	// AssumeBase lets what the base resolves to count as installed, where nothing else is known.
	AssumeBase bool
	// Baseline are the findings that are accepted, nil for none.
	Baseline *Baseline
	// Today is the day that dates of the baseline are compared with.
	Today time.Time
	// Progress is told how many of the files are done, from several goroutines; nil when nobody listens.
	Progress func(done, of int)
}

// Result is a report, and what is to be known beside it.
type Result struct {
	Report *report.Report
	// Unreadable is whether an input could not be read. It is among the findings too.
	Unreadable bool
	// Nothing says that there was nothing to check, "" when there was.
	Nothing string
}

// Run checks the inputs.
func Run(ctx context.Context, o Options) (*Result, error) {
	rule, err := resolver.ParseRule(o.Config.Rule)
	if err != nil {
		return nil, err
	}
	o.Inputs.Exclude = slices.Concat(o.Inputs.Exclude, o.Config.Exclude)
	o.Inputs.compared, o.Inputs.progress = o.Base != nil, o.Progress
	now, err := o.Inputs.read(ctx, disk{})
	if err != nil {
		return nil, err
	}
	var before *side
	if o.Base != nil {
		if before, err = o.base(ctx, rule); err != nil {
			return nil, err
		}
	}
	after, err := o.now(ctx, rule, now, before)
	if err != nil {
		return nil, err
	}
	r := &report.Report{Notices: now.notices}
	for _, p := range now.problems {
		r.Findings = append(r.Findings, unreadableFinding(p))
	}
	for _, d := range after.judged {
		o.include(r, d, after.catalogs, rule)
	}
	r.Findings = append(r.Findings, duplicates(&o.Config, now)...)
	sortFindings(r.Findings)
	distinguish(r.Findings)
	if before != nil {
		others := o.others(before, after)
		before.judged = append(before.judged, elsewhere(others, before.catalogs, rule)...)
		r.Plan = plan(o.Base.Name, before, &side{manifest: after.manifest, catalogs: after.catalogs, judged: append(slices.Clone(after.judged), elsewhere(others, after.catalogs, rule)...)}, rule)
		r.Notices = append(r.Notices, before.found.baseNotices(o.Base.Name)...)
	}
	if o.Baseline != nil {
		o.Baseline.apply(r, o.Today)
	}
	r.Summary = summary(r, now)
	res := &Result{Report: r, Unreadable: len(now.problems) > 0}
	if r.Summary.Extensions+r.Summary.Catalogs == 0 && len(now.objects) == 0 {
		res.Nothing = now.nothing()
	}
	return res, nil
}

// side is what one state of the inputs comes to.
type side struct {
	found    *found
	manifest []*ocv1.ClusterCatalog
	catalogs []resolver.Catalog
	judged   []*judged
}

// errNoCatalogs is for extensions that nothing can be said about.
var errNoCatalogs = errors.New("there are no catalogs to resolve with: give files by --catalogs, --catalog or --snapshot, or look at the objects alone by --schema-only")

// now judges the inputs as they are.
func (o *Options) now(ctx context.Context, rule resolver.Rule, f *found, before *side) (*side, error) {
	s := &side{found: f, manifest: catalogsOf(f)}
	if o.NoSource && !o.SchemaOnly && len(s.manifest) == 0 && len(f.of(kindExtension)) > 0 {
		return nil, errNoCatalogs
	}
	var err error
	if s.catalogs, err = describe(ctx, o.Catalogs, s.manifest, missing(before, s.manifest), o.Pull); err != nil {
		return nil, err
	}
	j := &judge{catalogs: s.catalogs, config: &o.Config, rule: rule, schemaOnly: o.SchemaOnly}
	j.installed = o.installed(before)
	s.judged, err = j.all(ctx, f.objects)
	return s, err
}

// missing are the catalogs that the base has a manifest of, and the inputs have none of any more.
func missing(before *side, now []*ocv1.ClusterCatalog) map[string]bool {
	if before == nil {
		return nil
	}
	gone := map[string]bool{}
	for _, cc := range before.manifest {
		if !slices.ContainsFunc(now, func(n *ocv1.ClusterCatalog) bool { return n.Name == cc.Name }) {
			gone[cc.Name] = true
		}
	}
	return gone
}

// installed is where the installed state comes from.
func (o *Options) installed(before *side) func(string) (*ocv1.ClusterExtensionStatus, string, bool) {
	var assumed map[string]*ocv1.ClusterExtensionStatus
	if o.AssumeBase && before != nil {
		assumed = map[string]*ocv1.ClusterExtensionStatus{}
		for _, d := range before.judged {
			if d.verdict != nil && d.verdict.Bundle != nil {
				assumed[d.ext.Name] = statusOf(d.verdict.Bundle)
			}
		}
	}
	if o.Installed == nil && assumed == nil {
		return nil
	}
	return func(name string) (*ocv1.ClusterExtensionStatus, string, bool) {
		if ext, ok := o.Installed[name]; ok {
			return &ext.Status, o.InstalledFrom, true
		}
		if status, ok := assumed[name]; ok {
			return status, "base", true
		}
		return nil, "", false
	}
}

// statusOf is the status of an extension that a bundle is installed of.
func statusOf(b *resolver.Bundle) *ocv1.ClusterExtensionStatus {
	m := ocv1.BundleMetadata{Name: b.Name, Version: b.Version}
	if b.Release != "" {
		m.Release = &b.Release
	}
	return &ocv1.ClusterExtensionStatus{Install: &ocv1.ClusterExtensionInstallStatus{Bundle: m}}
}

// include puts what was found out about an object into the report.
func (o *Options) include(r *report.Report, d *judged, catalogs []resolver.Catalog, rule resolver.Rule) {
	var e *report.Extension
	if d.verdict != nil {
		e = &report.Extension{Verdict: *d.verdict, Location: d.where(""), InstalledFrom: d.from}
		ext := d.ext
		e.Graphs = func() []resolver.Graph { return resolver.Graphs(ext, catalogs, rule) }
		r.Extensions = append(r.Extensions, e)
	}
	for _, f := range d.findings {
		f.Extension = e
		r.Findings = append(r.Findings, f)
	}
}

func unreadableFinding(p problem) report.Finding {
	f := report.Finding{
		Rule: report.UnreadableInput, Level: report.Error, Message: p.text, Fixes: []report.Fix{},
		Location: report.Location{File: p.file, Line: max(1, p.line)}, Docs: report.DocsOf(report.UnreadableInput),
	}
	f.Fingerprint = fingerprint(&f)
	return f
}

// duplicates finds objects that stand twice in one file, and catalogs that stand anywhere twice.
func duplicates(c *config.CheckConfiguration, f *found) []report.Finding {
	first := map[string]*object{}
	var list []report.Finding
	for _, o := range f.objects {
		if o.name == "" {
			continue
		}
		key := o.kind + "\x00" + o.name
		if o.kind == kindExtension {
			key += "\x00" + o.file
		}
		before, twice := first[key]
		if !twice {
			first[key] = o
			continue
		}
		at := before.where("")
		list = append(list, o.finding(report.DuplicateObject, report.Warning, "metadata.name", "%s %q stands in %s:%d too", o.kind, o.name, at.File, at.Line))
	}
	return bySchema(c, list)
}

func sortFindings(list []report.Finding) {
	slices.SortStableFunc(list, func(a, b report.Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Field, b.Field), strings.Compare(a.Message, b.Message))
	})
}

func summary(r *report.Report, f *found) report.Summary {
	s := report.Summary{Files: f.files, Objects: f.total, Accepted: len(r.Accepted)}
	for _, o := range f.objects {
		switch o.kind {
		case kindExtension:
			s.Extensions++
		case kindCatalog:
			s.Catalogs++
		}
	}
	for _, e := range r.Extensions {
		switch e.Verdict.Outcome {
		case resolver.OutcomeResolved:
			s.Resolved++
		case resolver.OutcomeFailed:
			s.Failed++
		default:
			s.NotDecided++
		}
	}
	for i := range r.Findings {
		switch r.Findings[i].Level {
		case report.Error:
			s.Errors++
		case report.Warning:
			s.Warnings++
		default:
			s.Undecided++
		}
	}
	return s
}

// baseNotices tell what of the base could not be read.
func (f *found) baseNotices(name string) []string {
	var list []string
	for _, p := range f.problems {
		list = append(list, fmt.Sprintf("base %s: %v", name, p))
	}
	return list
}
