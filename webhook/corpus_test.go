package webhook

import (
	"slices"
	"testing"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/resolver/casetest"
)

// TestEveryCaseThroughAnAdmissionReview feeds the resolver's cases to the webhook, and sees to it that every reason and
// note was among them.
func TestEveryCaseThroughAnAdmissionReview(t *testing.T) {
	cases, err := casetest.Load("../resolver/testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[resolver.Reason]bool{}
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			r := worldOf(t, c).review(t, c.ClusterExtension())
			failed := c.Want.Outcome == resolver.OutcomeFailed
			if want := !failed || (Policy{}).Failure(c.Want.Reason) != Deny; r.Allowed != want {
				t.Fatalf("allowed: %v, warnings: %q", r.Allowed, r.Warnings)
			}
			reason := c.Want.Reason
			if reason == "" {
				reason = resolver.Resolved
			}
			if got := r.AuditAnnotations[AuditReason]; got != string(reason) {
				t.Errorf("reason %s, want %s", got, reason)
			}
			if !r.Allowed && r.Result.Reason != metav1.StatusReason(reason) {
				t.Errorf("status reason %s, want %s", r.Result.Reason, reason)
			}
			if r.Allowed && reason != resolver.Resolved && !hasWarning(r, "olmgate: "+string(reason)+": ") {
				t.Errorf("no warning of %s in %q", reason, r.Warnings)
			}
			seen[reason] = true
			for _, n := range c.Want.Notes {
				if !hasWarning(r, "olmgate: "+string(n)+": ") && !hasWarning(r, " more: olmgate resolve "+c.File) {
					t.Errorf("no warning of %s in %q", n, r.Warnings)
				}
				seen[n] = true
			}
		})
	}
	t.Run("an extension without a spec", func(t *testing.T) {
		ext := loadCase(t, "select-by-name").ClusterExtension()
		ext.Spec = ocv1.ClusterExtensionSpec{}
		r := worldOf(t, loadCase(t, "select-by-name")).review(t, ext)
		if r.Allowed || r.Result.Reason != metav1.StatusReason(resolver.MissingCatalogSource) {
			t.Errorf("allowed: %v, %+v", r.Allowed, r.Result)
		}
		seen[resolver.MissingCatalogSource] = true
	})
	t.Run("an extension of which it is not known what is installed", func(t *testing.T) {
		ext := loadCase(t, "select-by-name").ClusterExtension()
		ext.Status.Conditions = []metav1.Condition{{Type: ocv1.TypeInstalled, Status: metav1.ConditionUnknown, Reason: "Failed"}}
		r := worldOf(t, loadCase(t, "select-by-name")).review(t, ext)
		if !r.Allowed || !hasWarning(r, "olmgate: InstalledStateUnknown: ") {
			t.Errorf("allowed: %v, %q", r.Allowed, r.Warnings)
		}
		seen[resolver.InstalledStateUnknown] = true
	})
	for _, r := range slices.Concat(resolver.Failures(), resolver.Notes()) {
		if !seen[r] {
			t.Errorf("no case is about %s", r)
		}
	}
}
