package webhook

import (
	"testing"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmgate/olmgate/resolver"
)

const tie = "two-catalogs-tie-at-priority-0"

func TestOnlyANewSourceIsJudged(t *testing.T) {
	c := loadCase(t, tie)
	edit := func(change func(*ocv1.ClusterExtension)) *ocv1.ClusterExtension {
		ext := c.ClusterExtension()
		change(ext)
		return ext
	}
	same := func(*ocv1.ClusterExtension) {}
	noSpec := func(e *ocv1.ClusterExtension) { e.Spec = ocv1.ClusterExtensionSpec{} }
	for name, tc := range map[string]struct {
		old, new func(*ocv1.ClusterExtension)
		request  func(*admissionv1.AdmissionRequest)
		denied   bool
	}{
		"a new object":                    {nil, same, nil, true},
		"another version":                 {func(e *ocv1.ClusterExtension) { e.Spec.Source.Catalog.Version = "<9" }, same, nil, true},
		"another selector":                {func(e *ocv1.ClusterExtension) { e.Spec.Source.Catalog.Selector = &metav1.LabelSelector{} }, same, nil, true},
		"a spec where there was none":     {noSpec, same, nil, true},
		"no spec where there was one":     {same, noSpec, nil, true},
		"a new object without a spec":     {nil, noSpec, nil, true},
		"no spec before or after":         {noSpec, noSpec, nil, false},
		"nothing changed":                 {same, same, nil, false},
		"a label":                         {same, func(e *ocv1.ClusterExtension) { e.Labels = map[string]string{"a": "b"} }, nil, false},
		"a finalizer":                     {same, func(e *ocv1.ClusterExtension) { e.Finalizers = []string{"a/b"} }, nil, false},
		"spec.install":                    {same, func(e *ocv1.ClusterExtension) { e.Spec.Install = &ocv1.ClusterExtensionInstallConfig{} }, nil, false},
		"an empty list of channels":       {same, func(e *ocv1.ClusterExtension) { e.Spec.Source.Catalog.Channels = []string{} }, nil, false},
		"another source type":             {nil, func(e *ocv1.ClusterExtension) { e.Spec.Source.SourceType = "Image" }, nil, false},
		"an object that is being deleted": {nil, func(e *ocv1.ClusterExtension) { e.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)} }, nil, false},
		"the status":                      {nil, same, func(r *admissionv1.AdmissionRequest) { r.SubResource = "status" }, false},
		"a deletion": {nil, same, func(r *admissionv1.AdmissionRequest) {
			r.Operation, r.OldObject = admissionv1.Delete, r.Object
			r.Object.Raw = nil
		}, false},
		"a connection": {nil, same, func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Connect }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var old *ocv1.ClusterExtension
			if tc.old != nil {
				old = edit(tc.old)
			}
			req := request(t, edit(tc.new), old)
			if tc.request != nil {
				tc.request(req)
			}
			w := worldOf(t, c)
			r := send(t, w.handler(t), req)
			if r.Allowed == tc.denied {
				t.Fatalf("allowed: %v, %q", r.Allowed, r.Warnings)
			}
			if !tc.denied && (len(r.Warnings) > 0 || len(r.AuditAnnotations) > 0 || w.cached.lists.Load() > 0) {
				t.Errorf("it was judged: %q, %v", r.Warnings, r.AuditAnnotations)
			}
		})
	}
}

func TestADryRunIsAnsweredAlike(t *testing.T) {
	w := worldOf(t, loadCase(t, tie))
	req := request(t, loadCase(t, tie).ClusterExtension(), nil)
	wet := send(t, w.handler(t), req)
	dry := true
	req.DryRun = &dry
	if got := send(t, w.handler(t), req); got.String() != wet.String() {
		t.Errorf("dry run: %v\notherwise: %v", got, wet)
	}
}

func TestWhatEachActAgainstADenialDoes(t *testing.T) {
	annotated := func(why string) func(*ocv1.ClusterExtension) {
		return func(e *ocv1.ClusterExtension) { e.Annotations = map[string]string{BypassAnnotation: why} }
	}
	groups := func(names ...string) func(*admissionv1.AdmissionRequest) {
		return func(r *admissionv1.AdmissionRequest) { r.UserInfo.Groups = names }
	}
	for name, tc := range map[string]struct {
		options   func(*Options)
		extension func(*ocv1.ClusterExtension)
		request   func(*admissionv1.AdmissionRequest)
		denied    bool
		warning   string
		bypass    string
	}{
		"none":                             {denied: true},
		"the break-glass group":            {request: groups("a", DefaultBreakGlassGroup), bypass: "break-glass"},
		"the group, switched off":          {request: groups(DefaultBreakGlassGroup), options: func(o *Options) { o.BreakGlass.Group = "" }, denied: true},
		"a group of another case":          {request: groups("olmgate:Break-glass"), denied: true},
		"an exempt user":                   {options: func(o *Options) { o.Exempt.Users = []string{"alice"} }, bypass: "user"},
		"an exempt group":                  {options: func(o *Options) { o.Exempt.Groups = []string{"system:authenticated"} }, bypass: "group"},
		"another user is exempt":           {options: func(o *Options) { o.Exempt.Users = []string{"bob"} }, denied: true},
		"the annotation":                   {extension: annotated("incident 42"), warning: `olmgate: AmbiguousCatalogs: not denied because its annotation olmgate.dev/bypass says "incident 42": `, bypass: "annotation: incident 42"},
		"the annotation, over lines":       {extension: annotated("a\nb"), warning: `says "a b": `, bypass: "annotation: a b"},
		"the annotation, blank":            {extension: annotated(" \n "), denied: true},
		"the annotation, switched off":     {extension: annotated("x"), options: func(o *Options) { o.BreakGlass.Annotation = false }, denied: true},
		"mode Warn":                        {options: func(o *Options) { o.Mode = ModeWarn }, warning: "olmgate: AmbiguousCatalogs: not denied because olmgate runs in mode Warn: "},
		"a policy that warns":              {options: policy(map[string]string{"AmbiguousCatalogs": "Warn"}), warning: "olmgate: AmbiguousCatalogs: package "},
		"a policy that ignores":            {options: policy(map[string]string{"AmbiguousCatalogs": "Ignore"})},
		"a policy about something else":    {options: policy(map[string]string{"PackageNotFound": "Ignore"}), denied: true},
		"the annotation and a mild policy": {extension: annotated("x"), options: policy(map[string]string{"AmbiguousCatalogs": "Warn"}), warning: "olmgate: AmbiguousCatalogs: package "},
	} {
		t.Run(name, func(t *testing.T) {
			c := loadCase(t, tie)
			w := worldOf(t, c)
			if tc.options != nil {
				tc.options(&w.options)
			}
			ext := c.ClusterExtension()
			if tc.extension != nil {
				tc.extension(ext)
			}
			req := request(t, ext, nil)
			if tc.request != nil {
				tc.request(req)
			}
			r := send(t, w.handler(t), req)
			if r.Allowed == tc.denied {
				t.Fatalf("allowed: %v, %q", r.Allowed, r.Warnings)
			}
			if tc.warning != "" && !hasWarning(r, tc.warning) || tc.warning == "" && !tc.denied && len(r.Warnings) > 0 {
				t.Errorf("warnings %q, want %q", r.Warnings, tc.warning)
			}
			if got := r.AuditAnnotations[AuditBypass]; got != tc.bypass {
				t.Errorf("audit annotation %q, want %q", got, tc.bypass)
			}
			if lists := w.fresh.lists.Load(); (lists == 1) != tc.denied {
				t.Errorf("%d fresh lists", lists)
			}
		})
	}
}

func policy(failures map[string]string) func(*Options) {
	return func(o *Options) {
		p, err := NewPolicy(failures, "", nil)
		if err != nil {
			panic(err)
		}
		o.Policy = p
	}
}

func TestTheAuditAnnotationsOfAResolvedExtension(t *testing.T) {
	c := loadCase(t, "select-by-name")
	r := worldOf(t, c).review(t, c.ClusterExtension())
	for key, want := range map[string]string{
		AuditOutcome: string(resolver.OutcomeResolved), AuditReason: "Resolved", AuditRule: "Package", AuditMode: "Enforce",
		AuditCatalog: *c.Want.Catalog, AuditBundle: *c.Want.Bundle, AuditBypass: "",
	} {
		if got := r.AuditAnnotations[key]; got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}
