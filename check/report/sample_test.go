package report

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/resolver/casetest"
)

// hostile is text that would do harm in one format or another.
const hostile = "<script>alert(1)</script> | `x` **b** ](https://evil.example) @admins #1 \x00\x1b[31m\u202e]]> %0A::error::x ##[error]y\r\n::warning::z {{.}} </style>"

// options are those of all golden files.
var options = Options{Version: "1.2.3", Now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), FailOn: Error}

func text(s string) *string { return &s }

// kiln is a package with two channels, of which the second is deprecated, and a version that lost its way forward.
func kiln() casetest.Package {
	entry := func(v, replaces string, more map[string]any) map[string]any {
		e := map[string]any{"name": "kiln-operator.v" + v}
		if replaces != "" {
			e["replaces"] = "kiln-operator.v" + replaces
		}
		for k, x := range more {
			e[k] = x
		}
		return e
	}
	p := casetest.Package{
		DefaultChannel: "stable",
		Channels: map[string][]any{
			"stable": {
				entry("1.0.0", "", nil), entry("1.1.0", "1.0.0", nil), entry("1.2.0", "1.1.0", map[string]any{"skips": []any{"kiln-operator.v1.0.0"}}),
				entry("2.0.0", "1.2.0", nil), entry("2.1.0", "2.0.0", map[string]any{"skipRange": ">=1.1.0 <2.1.0"}),
			},
			"candidate": {entry("2.1.0", "", nil), entry("3.0.0", "2.1.0", nil), entry("3.1.0-rc.1", "3.0.0", nil)},
			"legacy":    {entry("0.9.0", "", nil), entry("1.0.0", "0.9.0", nil)},
		},
		Bundles: map[string]casetest.Bundle{},
		Deprecations: []any{
			map[string]any{"reference": map[string]any{"schema": "olm.bundle", "name": "kiln-operator.v1.0.0"}, "message": "1.0.0 loses heat"},
			map[string]any{"reference": map[string]any{"schema": "olm.channel", "name": "legacy"}, "message": "use stable"},
		},
	}
	for _, v := range []string{"0.9.0", "1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0", "3.0.0", "3.1.0-rc.1"} {
		p.Bundles["kiln-operator.v"+v] = casetest.Bundle{Version: text(v)}
	}
	return p
}

// large is a package of n bundles in six channels; each replaces the one before, every tenth skips some, every
// fiftieth begins anew.
func large(n int) casetest.Package {
	p := casetest.Package{DefaultChannel: "stable", Channels: map[string][]any{}, Bundles: map[string]casetest.Bundle{}}
	last := map[string]string{}
	for i := range n {
		v := fmt.Sprintf("%d.%d.%d", 1+i/100, i/10%10, i%10)
		name := "fleet-operator.v" + v
		p.Bundles[name] = casetest.Bundle{Version: text(v)}
		for c, channel := range []string{"stable", fmt.Sprintf("stable-v%d", 1+i/100), "candidate"} {
			if c == 0 && i%3 == 1 {
				continue
			}
			e := map[string]any{"name": name}
			if last[channel] != "" && i%50 != 0 {
				e["replaces"] = last[channel]
			}
			if i%10 == 9 {
				e["skipRange"] = fmt.Sprintf(">=%d.%d.0 <%s", 1+i/100, i/10%10, v)
			}
			last[channel] = name
			p.Channels[channel] = append(p.Channels[channel], e)
		}
	}
	return p
}

// judged is an extension that was resolved in a catalog named hub.
func judged(t testing.TB, name string, pkg casetest.Package, want ocv1.CatalogFilter, installed *ocv1.BundleMetadata, l Location) *Extension {
	t.Helper()
	c := casetest.Case{
		File: name, Rule: resolver.RulePackage, Extension: want, Installed: installed,
		Catalogs: map[string]casetest.Catalog{"hub": {Packages: map[string]casetest.Package{want.PackageName: pkg}}},
	}
	inputs, err := c.Inputs()
	if err != nil {
		t.Fatal(err)
	}
	ext := c.ClusterExtension()
	return &Extension{
		Verdict: resolver.Resolve(ext, inputs, c.Rule), Location: l, InstalledFrom: "manifest",
		Graphs: func() []resolver.Graph { return resolver.Graphs(ext, inputs, c.Rule) },
	}
}

func in(file string, line, column, width int) Location {
	return Location{File: file, Line: line, Column: column, EndLine: line, EndColumn: column + width}
}

// findings are what a verdict comes to.
func findings(e *Extension) []Finding {
	v := &e.Verdict
	var list []Finding
	add := func(rule resolver.Reason, level Level, field, message string) *Finding {
		f := Finding{
			Rule: string(rule), Level: level, Message: message, Kind: "ClusterExtension", Name: v.Extension, Field: field, Location: e.Location,
			Fixes: []Fix{}, Docs: DocsOf(string(rule)), Fingerprint: fmt.Sprintf("%s-%s-%d", rule, v.Extension, len(list)), Extension: e,
		}
		list = append(list, f)
		return &list[len(list)-1]
	}
	if v.Outcome == resolver.OutcomeFailed {
		f := add(v.Reason, Error, v.Field, v.Message)
		for _, s := range v.Suggestions {
			f.Fixes = append(f.Fixes, Fix(s))
		}
	}
	for _, n := range v.Notes {
		add(n.Reason, Warning, n.Field, n.Message)
	}
	return list
}

// sample is a report with something of everything.
func sample(t testing.TB) *Report {
	t.Helper()
	range1 := judged(t, "kiln-prod", kiln(), ocv1.CatalogFilter{PackageName: "kiln-operator", Version: ">=2.0.0 <3.0.0", Channels: []string{"stable"}},
		&ocv1.BundleMetadata{Name: "kiln-operator.v1.0.0", Version: "1.0.0"}, in("clusters/prod/kiln.yaml", 12, 7, 7))
	missing := judged(t, "kiln-test", kiln(), ocv1.CatalogFilter{PackageName: "kiln-operator", Version: "4.x"}, nil, in("clusters/test/kiln.yaml", 9, 7, 7))
	fine := judged(t, "kiln-dev", kiln(), ocv1.CatalogFilter{PackageName: "kiln-operator", Channels: []string{"stable"}},
		&ocv1.BundleMetadata{Name: "kiln-operator.v1.1.0", Version: "1.1.0"}, in("clusters/dev/kiln.yaml", 1, 1, 10))
	deprecated := judged(t, "kiln-old", kiln(), ocv1.CatalogFilter{PackageName: "kiln-operator", Version: "1.0.0"}, nil, in("./clusters/old/kiln ü%.yaml", 8, 5, 7))
	r := &Report{Extensions: []*Extension{fine, deprecated, range1, missing}}
	r.Findings = append(r.Findings, findings(deprecated)...)
	r.Findings = append(r.Findings, findings(range1)...)
	r.Findings = append(r.Findings, findings(missing)...)
	r.Findings = append(r.Findings,
		Finding{
			Rule: OldField, Level: Error, Message: "spec.packageName is a field of the alpha API; it is spec.source.catalog.packageName now", Kind: "ClusterExtension",
			Name: "kiln-alpha", Field: "spec.packageName", Location: in("clusters/alpha.yaml", 6, 3, 11),
			Fixes: []Fix{{Field: "spec.source.catalog.packageName", Value: json.RawMessage(`"kiln-operator"`), Message: "set spec.source.catalog.packageName: kiln-operator"}},
			Docs:  DocsOf(OldField), Fingerprint: "0a1b2c",
		},
		Finding{
			Rule: InvalidValue, Level: Error, Message: hostile, Kind: "ClusterCatalog", Name: hostile, Field: "spec." + hostile,
			Location: Location{File: "evil,file:name|`.yaml", Line: 1}, Docs: DocsOf(InvalidValue), Fingerprint: "0a1b2c",
			Fixes: []Fix{{Field: "spec", Value: json.RawMessage(`null`), Message: hostile}},
		},
		Finding{
			Rule: string(resolver.CatalogContentUnavailable), Level: Undecided, Message: "the content of catalog mirror is not at hand", Kind: "ClusterExtension",
			Name: "kiln-edge", Location: in("clusters/edge.yaml", 4, 1, 4), Docs: DocsOf(string(resolver.CatalogContentUnavailable)), Fingerprint: "9f",
		},
		Finding{Rule: UnreadableInput, Level: Error, Message: "permission denied", Location: Location{File: "secret.yaml"}, Docs: DocsOf(UnreadableInput), Fingerprint: "77"},
	)
	r.Accepted = []Finding{{
		Rule: string(resolver.PackageNotFound), Level: Error, Message: "no selected catalog contains the package anvil", Kind: "ClusterExtension", Name: "anvil",
		Field: "spec.source.catalog.packageName", Location: in("clusters/prod/anvil.yaml", 10, 7, 11), Docs: DocsOf(string(resolver.PackageNotFound)), Fingerprint: "ac",
		Accepted: &Acceptance{Why: "the catalog comes with the next release", Expires: "2026-12-31"},
	}}
	one := 1
	r.Plan = &Plan{
		Base: "origin/main",
		Changes: []Change{
			{
				Mark: Broken, Extension: "kiln-test", Package: "kiln-operator", Touched: true, Notes: []resolver.Note{},
				Before: &Side{Outcome: resolver.OutcomeResolved, Reason: resolver.Resolved, Catalog: "hub", Bundle: &resolver.Bundle{Name: "kiln-operator.v3.0.0", Version: "3.0.0"}},
				After:  &Side{Outcome: resolver.OutcomeFailed, Reason: missing.Verdict.Reason, Message: missing.Verdict.Message},
			},
			{
				Mark: Changed, Extension: "kiln-dev", Package: "kiln-operator", Hops: &one, Notes: []resolver.Note{{Reason: resolver.MajorJump, Message: "2.1.0 is another major version"}},
				Before: &Side{Outcome: resolver.OutcomeResolved, Reason: resolver.Resolved, Catalog: "old", Bundle: &resolver.Bundle{Name: "kiln-operator.v1.1.0", Version: "1.1.0"}},
				After:  &Side{Outcome: resolver.OutcomeResolved, Reason: resolver.Resolved, Catalog: "hub", Bundle: &resolver.Bundle{Name: "kiln-operator.v2.1.0", Version: "2.1.0", Release: "2"}},
			},
			{
				Mark: Added, Extension: "kiln-old", Package: "kiln-operator", Touched: true, Notes: []resolver.Note{},
				After: &Side{Outcome: resolver.OutcomeResolved, Reason: resolver.Resolved, Catalog: "hub", Bundle: &resolver.Bundle{Name: "kiln-operator.v1.0.0", Version: "1.0.0"}},
			},
			{
				Mark: Removed, Extension: hostile, Package: "loom", Touched: true, Notes: []resolver.Note{},
				Before: &Side{Outcome: resolver.OutcomeUndecided, Reason: resolver.CatalogContentUnavailable},
			},
		},
		Catalogs: []CatalogChange{{Mark: Changed, Name: "hub", What: []string{"priority 0 -> 10", hostile}}},
		Summary:  PlanSummary{Added: 1, Changed: 1, Removed: 1, Broken: 1, Unchanged: 3},
	}
	r.Notices = []string{"the baseline's entry for loom has expired on 2026-01-01", hostile}
	r.Summary = Summary{Files: 9, Objects: 31, Extensions: 7, Catalogs: 1, Resolved: 2, Failed: 2, Accepted: len(r.Accepted)}
	for i := range r.Findings {
		switch r.Findings[i].Level {
		case Error:
			r.Summary.Errors++
		case Warning:
			r.Summary.Warnings++
		default:
			r.Summary.Undecided++
		}
	}
	return r
}

// clean is a report without findings, and empty one of a run that found no objects.
func clean(t testing.TB) *Report {
	t.Helper()
	e := judged(t, "kiln-dev", kiln(), ocv1.CatalogFilter{PackageName: "kiln-operator"}, nil, in("kiln.yaml", 1, 1, 10))
	return &Report{Extensions: []*Extension{e}, Summary: Summary{Files: 1, Objects: 2, Extensions: 1, Resolved: 1}}
}

func empty() *Report { return &Report{Summary: Summary{Files: 3, Objects: 7}} }

// many is a report with n warnings in one file.
func many(n int) *Report {
	r := &Report{Summary: Summary{Files: 1, Objects: n, Extensions: n, Warnings: n}}
	for i := range n {
		r.Findings = append(r.Findings, Finding{
			Rule: IgnoredField, Level: Warning, Message: fmt.Sprintf("field number %d is accepted and has no effect", i), Kind: "ClusterExtension",
			Name: fmt.Sprintf("kiln-%d", i), Field: "spec.serviceAccount", Location: in("all.yaml", 10*i+1, 3, 5), Docs: DocsOf(IgnoredField), Fingerprint: "same",
		})
	}
	return r
}

// largeReport has two extensions of a package of 400 bundles: one that cannot get where it wants, one that can.
func largeReport(t testing.TB) *Report {
	t.Helper()
	stuck := judged(t, "fleet-prod", large(400), ocv1.CatalogFilter{PackageName: "fleet-operator", Version: ">=3.0.0 <4.0.0", Channels: []string{"candidate"}},
		&ocv1.BundleMetadata{Name: "fleet-operator.v1.2.3", Version: "1.2.3"}, in("fleet.yaml", 9, 7, 7))
	gone := judged(t, "fleet-gone", large(400), ocv1.CatalogFilter{PackageName: "fleet-operator", Version: "9.x"},
		&ocv1.BundleMetadata{Name: "fleet-operator.v2.0.15", Version: "2.0.15"}, in("fleet.yaml", 30, 7, 7))
	moving := judged(t, "fleet-test", large(400), ocv1.CatalogFilter{PackageName: "fleet-operator", Channels: []string{"stable"}},
		&ocv1.BundleMetadata{Name: "fleet-operator.v2.1.2", Version: "2.1.2"}, in("fleet.yaml", 50, 7, 7))
	r := &Report{Extensions: []*Extension{stuck, gone, moving}, Summary: Summary{Files: 1, Objects: 3, Extensions: 3, Errors: 2}}
	r.Findings = append(findings(stuck), findings(gone)...)
	r.Findings = append(r.Findings, Finding{
		Rule: IgnoredField, Level: Warning, Message: "spec.serviceAccount is accepted and has no effect", Kind: "ClusterExtension", Name: "fleet-test",
		Field: "spec.serviceAccount", Location: moving.Location, Docs: DocsOf(IgnoredField), Fingerprint: "f", Extension: moving,
	})
	return r
}
