package e2e_test

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kubectl apply --force answers a 409 or 422 by deleting the object and creating it anew, which uninstalls the operator.
func TestForcedApplyDoesNotRecreateWhatIsDenied(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	w.apply(extension("kiln", "packageName: kiln-operator", "version: 1.0.0")).admitted()
	identity := func() string {
		return w.kubectl("get", "clusterextension", "kiln", "-o", "jsonpath={.metadata.uid} generation {.metadata.generation}").out
	}
	before := identity()
	for _, version := range []string{"9.9.9", "1.2.3-01"} {
		denied := w.apply(extension("kiln", "packageName: kiln-operator", "version: "+version), "--force")
		if !denied.failed {
			t.Errorf("version %s was admitted", version)
		}
	}
	w.apply(extension("kiln", "packageName: kiln-operator", "version: 9.9.9"), "--server-side", "--force-conflicts").denied("NoMatchingVersion")
	if after := identity(); after != before {
		t.Errorf("the object was %s and is %s", before, after)
	}
}

func TestDenialIsA403WithAReasonAndCauses(t *testing.T) {
	w := gated(t)
	w.sample(0, "community", "operatorhubio")
	var denial *apierrors.StatusError
	_, err := w.caller().create(w.ctx(), extensionObject("argocd", "argocd-operator"))
	if !errors.As(err, &denial) {
		t.Fatalf("got %v, want a denial", err)
	}
	status := denial.ErrStatus
	if status.Code != http.StatusForbidden || status.Reason != "AmbiguousCatalogs" {
		t.Errorf("got %d %s, want 403 AmbiguousCatalogs", status.Code, status.Reason)
	}
	want := []metav1.StatusCause{{Type: "AmbiguousCatalogs", Field: "spec.source.catalog.selector"},
		{Type: "Suggestion", Field: "spec.source.catalog.selector"}, {Type: "Suggestion", Field: "spec.source.catalog.selector"}}
	same := slices.EqualFunc(status.Details.Causes, want, func(a, b metav1.StatusCause) bool { return a.Type == b.Type && a.Field == b.Field && a.Message != "" })
	if !same || status.Details.Name != "argocd" || status.Details.Kind != "ClusterExtension" {
		t.Errorf("got details %+v", status.Details)
	}
}

func TestAuditLogSaysWhatWasDecided(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	w.apply(extension("audited", "packageName: kiln-operator", "version: 1.0.0"), "--server-side").admitted()
	_, got := w.audited("audited")
	want := map[string]string{"outcome": "Resolved", "reason": "Resolved", "catalog": "a", "bundle": "kiln-operator.v1.0.0", "rule": "Package", "mode": "Enforce"}
	if !maps.Equal(got, want) {
		t.Errorf("admitted: got %v, want %v", got, want)
	}

	w.apply(extension("refused", "packageName: kiln-operator", "version: 9.9.9"), "--server-side").denied("NoMatchingVersion")
	e, got := w.audited("refused")
	want = map[string]string{"outcome": "Failed", "reason": "NoMatchingVersion", "catalog": "a", "rule": "Package", "mode": "Enforce"}
	if !maps.Equal(got, want) || e.ResponseStatus.Code != http.StatusForbidden || e.ResponseStatus.Reason != "NoMatchingVersion" {
		t.Errorf("denied: got %v with %+v, want %v with 403", got, e.ResponseStatus, want)
	}

	w.apply(annotated("spared", "{olmgate.dev/bypass: the catalog is late}", "packageName: kiln-operator", "version: 9.9.9"), "--server-side").
		warned("NoMatchingVersion", `not denied because its annotation olmgate.dev/bypass says "the catalog is late"`)
	_, got = w.audited("spared")
	want = map[string]string{"outcome": "Failed", "reason": "NoMatchingVersion", "catalog": "a", "rule": "Package", "mode": "Enforce",
		"bypass": "annotation: the catalog is late"}
	if !maps.Equal(got, want) {
		t.Errorf("spared: got %v, want %v", got, want)
	}

	// What is not evaluated leaves nothing.
	before := len(w.audit("audited"))
	w.kubectl("label", "clusterextension", "audited", "tier=gold").admitted()
	w.eventually(func() error {
		events := w.audit("audited")
		for _, e := range events[before:] {
			if e.Verb == "patch" {
				if len(e.ofOlmgate()) > 0 {
					t.Errorf("a label leaves %v", e.ofOlmgate())
				}
				return nil
			}
		}
		return errors.New("no audit event of the label")
	})
}
