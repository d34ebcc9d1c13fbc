package manifests

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"
)

var (
	extensionKind     = schema.GroupVersionKind{Group: "olm.operatorframework.io", Version: "v1", Kind: "ClusterExtension"}
	extensionResource = schema.GroupVersionResource{Group: "olm.operatorframework.io", Version: "v1", Resource: "clusterextensions"}
)

// TestWhatTheMatchConditionsLetIn evaluates them with the API server's own code, as of Kubernetes 1.30, the oldest that
// olmgate supports.
func TestWhatTheMatchConditionsLetIn(t *testing.T) {
	compiler := cel.NewConditionCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, 30)))
	hook := decode(t, "enforce").hook(t)
	// With Fail, an expression that cannot be evaluated is an error instead of a silent pass.
	fail := admissionregistrationv1.Fail
	hook.FailurePolicy = &fail
	matcher := webhook.NewValidatingWebhookAccessor("uid", "olmgate", &hook).GetCompiledMatcher(compiler)

	const (
		v1       = "spec: {namespace: n, source: {sourceType: Catalog, catalog: {packageName: p, version: 1.0.0}}}"
		v2       = "spec: {namespace: n, source: {sourceType: Catalog, catalog: {packageName: p, version: 2.0.0}}}"
		install  = "spec: {namespace: n, source: {sourceType: Catalog, catalog: {packageName: p, version: 1.0.0}}, install: {preflight: {}}}"
		noSource = "spec: {namespace: n}"
		deleting = "metadata: {deletionTimestamp: 2031-01-01T00:00:00Z}\n"
	)
	for name, tc := range map[string]struct {
		old, new string
		groups   []string
		in       bool
	}{
		"a new object":                        {"", v1, nil, true},
		"a new object without a spec":         {"", "metadata: {}", nil, true},
		"another version":                     {v1, v2, nil, true},
		"a spec where there was none":         {"metadata: {}", v1, nil, true},
		"no spec where there was one":         {v1, "metadata: {}", nil, true},
		"a source where there was none":       {noSource, v1, nil, true},
		"nothing changed":                     {v1, v1, nil, false},
		"spec.install":                        {v1, install, nil, false},
		"a label":                             {v1, "metadata: {labels: {a: b}}\n" + v1, nil, false},
		"a finalizer":                         {v1, "metadata: {finalizers: [a/b]}\n" + v1, nil, false},
		"no spec before or after":             {"metadata: {}", "metadata: {labels: {a: b}}", nil, false},
		"no source before or after":           {noSource, noSource, nil, false},
		"an object that is being deleted":     {v1, deleting + v2, nil, false},
		"somebody with the break-glass group": {v1, v2, []string{"system:authenticated", "olmgate:break-glass"}, false},
		"somebody with other groups":          {v1, v2, []string{"system:masters"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			object := func(text string) runtime.Object {
				if text == "" {
					return nil
				}
				u := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
					t.Fatal(err)
				}
				u.SetGroupVersionKind(extensionKind)
				u.SetName("x")
				return u
			}
			operation := admission.Create
			if tc.old != "" {
				operation = admission.Update
			}
			now, before := object(tc.new), object(tc.old)
			attributes := &admission.VersionedAttributes{
				Attributes: admission.NewAttributesRecord(now, before, extensionKind, "", "x", extensionResource, "", operation, nil, false,
					&user.DefaultInfo{Name: "alice", Groups: tc.groups}),
				VersionedKind: extensionKind, VersionedObject: admission.NewLazyObject(now), VersionedOldObject: admission.NewLazyObject(before),
			}
			result := matcher.Match(t.Context(), attributes, nil, nil)
			if result.Error != nil {
				t.Fatal(result.Error)
			}
			if result.Matches != tc.in {
				t.Errorf("let in: %v, kept out by %q", result.Matches, result.FailedConditionName)
			}
		})
	}
}
