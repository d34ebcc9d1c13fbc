package check_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/check"
	"github.com/olmgate/olmgate/check/report"
	"github.com/olmgate/olmgate/config"
	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/resolver/casetest"
	"github.com/olmgate/olmgate/webhook"
)

// TestEveryDoorAnswersAlike feeds the resolver's cases to a check, to the resolver and to the webhook: outcome, reason
// and bundle are the same, and a check fails where the webhook denies.
func TestEveryDoorAnswersAlike(t *testing.T) {
	cases, err := casetest.Load("../resolver/testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			inputs, err := c.Inputs()
			if err != nil {
				t.Fatal(err)
			}
			want := resolver.Resolve(c.ClusterExtension(), inputs, c.Rule)
			r := checked(t, c, inputs)
			if len(r.Extensions) != 1 {
				t.Fatalf("%d extensions", len(r.Extensions))
			}
			got := r.Extensions[0].Verdict
			for _, wrong := range c.Check(got) {
				t.Error(wrong)
			}
			got.Location = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the resolver answers otherwise: %s", diff)
			}
			answer := admitted(t, c)
			if denies := reasonFails(r, want.Reason); denies == answer.Allowed {
				t.Errorf("the webhook allows: %v, the check finds an error: %v", answer.Allowed, denies)
			}
			if reason := answer.AuditAnnotations[webhook.AuditReason]; reason != string(got.Reason) {
				t.Errorf("reason %s, the webhook has %s", got.Reason, reason)
			}
			bundle := ""
			if got.Bundle != nil {
				bundle = got.Bundle.Name
			}
			if at := answer.AuditAnnotations[webhook.AuditBundle]; at != bundle {
				t.Errorf("bundle %q, the webhook has %q", bundle, at)
			}
		})
	}
}

// reasonFails reports whether the verdict itself is an error.
func reasonFails(r *report.Report, reason resolver.Reason) bool {
	for _, f := range r.Findings {
		if f.Rule == string(reason) && f.Level == report.Error {
			return true
		}
	}
	return false
}

func checked(t *testing.T, c casetest.Case, inputs []resolver.Catalog) *report.Report {
	text, err := yaml.Marshal(c.ClusterExtension())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "extension.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	o := check.Options{Config: config.DefaultCheck(), Inputs: check.Inputs{Paths: []string{file}}}
	o.Config.Rule = string(c.Rule)
	for i := range inputs {
		o.Catalogs = append(o.Catalogs, check.Known{Object: c.ClusterCatalog(inputs[i].Name), Catalog: inputs[i]})
	}
	result, err := check.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

// lister lists the catalogs of a case.
type lister struct {
	client.Reader
	items []ocv1.ClusterCatalog
}

func (l lister) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*ocv1.ClusterCatalogList).Items = l.items
	return nil
}

func admitted(t *testing.T, c casetest.Case) admission.Response {
	contents := map[string]catalog.Content{}
	var l lister
	for _, name := range c.Names() {
		content, err := c.Content(name)
		if err != nil {
			t.Fatal(err)
		}
		contents[name] = content
		l.items = append(l.items, *c.ClusterCatalog(name))
	}
	h, err := webhook.NewHandler(webhook.Options{
		Cached: l, Fresh: l, Rule: c.Rule, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Content: func(cc *ocv1.ClusterCatalog) catalog.Content { return contents[cc.Name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(c.ClusterExtension())
	if err != nil {
		t.Fatal(err)
	}
	return h.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: raw},
		Kind: metav1.GroupVersionKind{Group: ocv1.GroupVersion.Group, Version: "v1", Kind: ocv1.ClusterExtensionKind},
	}})
}
