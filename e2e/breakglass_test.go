package e2e_test

import (
	"slices"
	"strings"
	"testing"
)

// failing is an extension that fails in every test here.
func failing(name, annotations string) string {
	return annotated(name, annotations, "packageName: kiln-operator", "version: 9.9.9")
}

func TestBreakGlass(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	w.apply(failing("glass", "")).denied("NoMatchingVersion")

	const says = `not denied because its annotation olmgate.dev/bypass says "INC-1, catalog is late": no bundle of package "kiln-operator"`
	w.try(failing("glass", `{olmgate.dev/bypass: "INC-1, catalog is late"}`)).warned("NoMatchingVersion", says)
	w.apply(failing("annotated", `{olmgate.dev/bypass: "INC-1, catalog is late"}`)).warned("NoMatchingVersion", says)
	for _, blank := range []string{`""`, `"  "`} {
		w.apply(failing("glass", "{olmgate.dev/bypass: "+blank+"}")).denied("NoMatchingVersion")
	}

	w.apply(failing("glass", ""), "--as=jane", "--as-group=system:masters").denied("NoMatchingVersion")
	w.apply(failing("glass", ""), "--as=jane", "--as-group=system:masters", "--as-group=olmgate:break-glass").admitted()
}

func TestExemptUsersAndGroupsAreNotJudged(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	w.restart("--exempt-users=flux,argo", "--exempt-groups=platform")
	w.apply(failing("exempt", ""), "--as=jane", "--as-group=system:masters").denied("NoMatchingVersion")
	w.apply(failing("exempt", ""), "--server-side", "--as=jane", "--as-group=system:masters", "--as-group=platform", "--dry-run=server").admitted()
	if _, got := w.audited("exempt"); got["outcome"] != "Bypassed" || got["bypass"] != "group" {
		t.Errorf("audited as %v", got)
	}
	w.apply(failing("exempt", ""), "--as=flux", "--as-group=system:masters").admitted()
}

func TestModeWarnDeniesNothing(t *testing.T) {
	w := gated(t)
	w.sample(0, "community", "operatorhubio")
	w.restart("--mode=Warn")
	w.apply(extension("argocd", "packageName: argocd-operator"), "--server-side").warned("AmbiguousCatalogs",
		"not denied because olmgate runs in mode Warn: ", "to take it from community (newest 0.15.0), set spec.source.catalog.selector: ")
	if _, got := w.audited("argocd"); got["outcome"] != "Failed" || got["mode"] != "Warn" {
		t.Errorf("audited as %v", got)
	}
}

func TestServiceAccountMayDoNoMoreThanItMust(t *testing.T) {
	w := gated(t)
	const account = "--as=system:serviceaccount:olmgate-system:olmgate"
	for _, may := range []string{
		"list secrets -A", "list secrets -n olmgate-system", "create secrets -n olmgate-system", "get secrets/other -n olmgate-system", "get secrets/olmgate-ca -n default",
		"patch validatingwebhookconfigurations/other", "update validatingwebhookconfigurations/olmgate", "create pods -n olmgate-system",
		"patch clustercatalogs", "update clustercatalogs --subresource=status", "get clusterextensions", "patch clusterextensions --subresource=status",
	} {
		if a := w.kubectl(append([]string{"auth", "can-i", account}, strings.Fields(may)...)...); strings.TrimSpace(a.out) != "no" {
			t.Errorf("%s: %s", may, a.text())
		}
	}
	all := w.kubectl("auth", "can-i", "--list", account, "-n", "olmgate-system")
	var got []string
	for line := range strings.Lines(all.out) {
		// What is not about resources, or granted to every ServiceAccount, is left out.
		line = strings.Join(strings.Fields(line), " ")
		if !strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "self") && !strings.HasPrefix(line, "clustertrustbundles") {
			got = append(got, line)
		}
	}
	slices.Sort(got)
	want := []string{
		"Resources Non-Resource URLs Resource Names Verbs",
		"clustercatalogs.olm.operatorframework.io [] [] [get list watch]",
		"secrets [] [olmgate-ca] [get list watch create update patch]",
		"validatingwebhookconfigurations.admissionregistration.k8s.io [] [olmgate] [get list watch patch]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("it may do\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
