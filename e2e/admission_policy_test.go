package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	mm "github.com/Masterminds/semver/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/suite"
)

// policed is a cluster with the admission policies and without olmgate.
func policed(t *testing.T) *world {
	t.Helper()
	w := &world{Cluster: suite.Cluster(t), T: t}
	// The webhook would speak after the policies.
	if running.cluster == w.Cluster {
		w.gate = running.gate
		w.stop()
		running.cluster = nil
		kubectl(w.ctx(), t, w.Cluster, "delete", "validatingwebhookconfiguration", gate.Configuration, "--ignore-not-found")
	}
	manifests, err := gate.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(manifests, "..", "..", "components", "admission-policy")
	for _, file := range []string{"policies.yaml", "bindings.yaml"} {
		kubectl(w.ctx(), t, w.Cluster, "apply", "--server-side", "-f", filepath.Join(folder, file))
		t.Cleanup(func() {
			if _, _, err := w.Cluster.Kubectl(w.ctx(), nil, "delete", "-f", filepath.Join(folder, file)); err != nil {
				t.Errorf("cleaning up: %v", err)
			}
		})
	}
	t.Cleanup(w.clear)
	// API servers compile policies a moment after they were stored.
	w.eventually(func() error {
		_, errs, err := w.Cluster.Kubectl(w.ctx(), []byte(withCatalog("probe", "selector: {matchLabels: {/: b}}")), "create", "--dry-run=server", "-f", "-")
		if err == nil || !strings.Contains(errs, "olmgate-unreadable") {
			return fmt.Errorf("no policy yet: %s", errs)
		}
		_, errs, err = w.Cluster.Kubectl(w.ctx(), []byte(withCatalog("probe", "version: 1.2.3+1")), "create", "--dry-run=server", "-f", "-")
		if err != nil || !strings.Contains(errs, "olmgate-advice") {
			return fmt.Errorf("no advice yet: %s", errs)
		}
		return nil
	})
	return w
}

// withCatalog is an extension with more fields of spec.source.catalog.
func withCatalog(name, fields string) string {
	return `apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: ` + name + `}
spec: {namespace: default, source: {sourceType: Catalog, catalog: {packageName: kiln, ` + fields + `}}}
`
}

func TestAdmissionPoliciesDenyWhatNobodyCanRead(t *testing.T) {
	w := policed(t)
	const denied = `ValidatingAdmissionPolicy 'olmgate-unreadable' with binding 'olmgate-unreadable' denied request: `
	for name, tc := range map[string]struct{ manifest, want string }{
		"an unknown operator": {withCatalog("x", "selector: {matchExpressions: [{key: a, operator: Equals, values: [b]}]}"), `"Equals" is not an operator; use In, NotIn, Exists or DoesNotExist`},
		"In without values":   {withCatalog("x", "selector: {matchExpressions: [{key: a, operator: In}]}"), "operator In needs values"},
		"a bad key":           {withCatalog("x", "selector: {matchLabels: {'a b': c}}"), `"a b" is not the key of a label`},
		"a bad value":         {withCatalog("x", "selector: {matchLabels: {a: 'b c'}}"), `"b c" is not the value of a label`},
		"a bad range":         {withCatalog("x", "version: 1.2.3-01"), `spec.source.catalog.version "1.2.3-01" cannot be read as a version range.`},
		"no spec":             {"apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {name: x}\n", "the extension has no spec.source.catalog"},
	} {
		t.Run(name, func(t *testing.T) {
			w.T = t
			a := w.apply(tc.manifest)
			if !a.failed || !strings.Contains(a.errs, denied) || !strings.Contains(a.errs, tc.want) {
				t.Errorf("want %q, got: %s", tc.want, a.text())
			}
			// kubectl apply --force deletes and creates an object anew for some answers. Not for this one.
			if a = w.apply(tc.manifest, "--force"); !a.failed || strings.Contains(a.text(), "deleted") {
				t.Errorf("--force: %s", a.text())
			}
		})
	}
	w.T = t
}

func TestAdmissionPoliciesLetTheRestThrough(t *testing.T) {
	w := policed(t)
	w.apply(withCatalog("x", "version: '>=1.2.0 <2.0.0', selector: {matchExpressions: [{key: a.b/c, operator: NotIn, values: [d]}]}")).admitted()

	bad := withCatalog("x", "selector: {matchExpressions: [{key: a, operator: Equals}]}")
	if a := w.apply(bad); !a.failed {
		t.Errorf("an update that breaks the selector was admitted: %s", a.text())
	}
	w.kubectl("label", "clusterextension", "x", "a=b").admitted()
	annotated := strings.Replace(bad, "{name: x}", "{name: x, annotations: {olmgate.dev/bypass: change 4711}}", 1)
	w.apply(annotated).admitted()
	// What is stored stays editable in every other field, and can be deleted.
	w.kubectl("annotate", "clusterextension", "x", "olmgate.dev/bypass-").admitted()
	w.kubectl("label", "clusterextension", "x", "c=d").admitted()
	if a := w.kubectlWith(strings.Replace(bad, "a, operator", "b, operator", 1), "apply", "-f", "-", "--as=jane", "--as-group=system:masters", "--as-group=olmgate:break-glass"); a.failed {
		t.Errorf("a member of the group did not get through: %s", a.text())
	}
	w.kubectl("delete", "clusterextension", "x").admitted()
}

func TestAdmissionPoliciesGiveAdvice(t *testing.T) {
	w := policed(t)
	for fields, want := range map[string]string{
		"version: 1.2.3+2":                       "a release cannot be pinned",
		"upgradeConstraintPolicy: SelfCertified": "any version may follow the installed one",
	} {
		a := w.try(withCatalog("x", fields))
		if a.failed || !strings.Contains(a.errs, "Warning: Validation failed for ValidatingAdmissionPolicy 'olmgate-advice'") || !strings.Contains(a.errs, want) {
			t.Errorf("%s: want %q, got: %s", fields, want, a.text())
		}
	}
}

// TestAdmissionPoliciesMissNoRange tries texts that look like ranges on the real schema: what neither it nor the policy
// refuses can be read, and what the policy refuses cannot.
func TestAdmissionPoliciesMissNoRange(t *testing.T) {
	w := policed(t)
	c, ctx := w.caller(), w.ctx()
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{
		"0", "1", "12", "01", "x", "*", ".", ".", ".2", ".0", "-", "-01", "-rc.1", "-a.01", "+", "+1", "+01", " ", " ", ",", "||", "|", "|||",
		">=", "<", "~", "^", "!=", "=", "v", "18446744073709551615", "18446744073709551616", "99999999999999999999",
	}
	counts := map[string]int{}
	for range 1500 {
		var text strings.Builder
		for range 1 + random.IntN(7) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		version := text.String()
		verdict := tryVersion(ctx, t, c, version)
		counts[verdict]++
		_, err := mm.NewConstraint(version)
		if verdict == "policy" && err == nil || verdict == "admitted" && version != "" && err != nil {
			t.Errorf("%q: %s, and the parser says %v", version, verdict, err)
		}
	}
	t.Log(counts)
	if counts["policy"] < 5 || counts["admitted"] < 50 {
		t.Errorf("too few of a kind: %v", counts)
	}
}

// tryVersion says who refuses a version: the schema, the policy, or nobody.
func tryVersion(ctx context.Context, t *testing.T, c *caller, version string) string {
	t.Helper()
	o := extensionObject("x", "kiln")
	if err := unstructured.SetNestedField(o.Object, version, "spec", "source", "catalog", "version"); err != nil {
		t.Fatal(err)
	}
	switch err := c.try(ctx, o); {
	case err == nil:
		return "admitted"
	case apierrors.IsInvalid(err):
		return "schema"
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "olmgate-unreadable"):
		return "policy"
	default:
		t.Fatal(err)
		return ""
	}
}
