package e2e_test

import (
	"strings"
	"testing"
)

func TestDryRunAnswersAsApplyDoes(t *testing.T) {
	w := gated(t)
	w.sample(0, "a", "community")
	for name, tc := range map[string]struct {
		fields []string
		check  func(answer) answer
	}{
		"denial": {
			[]string{"packageName: kiln-operater"},
			func(a answer) answer {
				return a.denied("PackageNotFound", "(looked in a, community)", "set spec.source.catalog.packageName: kiln-operator")
			},
		},
		"warning": {
			[]string{"packageName: argocd-operator", "channels: [alpha]"},
			func(a answer) answer {
				return a.warned("ChannelDeprecated", "is deprecated in community: channel alpha is no longer maintained, use stable")
			},
		},
		"admission": {
			[]string{"packageName: kiln-operator", "version: 1.2.0"},
			answer.admitted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{Cluster: w.Cluster, T: t, gate: w.gate}
			manifest := extension(name, tc.fields...)
			try := tc.check(w.try(manifest))
			if stored := w.kubectl("get", "clusterextensions", "-o", "name"); strings.Contains(stored.out, name) {
				t.Errorf("the dry run stored something: %s", stored.out)
			}
			done := tc.check(w.apply(manifest))
			if try.errs != done.errs {
				t.Errorf("the dry run answers:\n%s\nbut apply:\n%s", try.errs, done.errs)
			}
			if !done.failed {
				w.apply(manifest).admitted() // nothing changed, so nothing is said again
			}
			tc.check(w.apply(extension(name+"-on-the-server", tc.fields...), "--server-side"))
		})
	}
}

func TestEditIsJudged(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	w.apply(extension("kiln", "packageName: kiln-operator", "version: 1.0.0")).admitted()

	for _, a := range []answer{
		w.kubectl("patch", "clusterextension", "kiln", "--type=merge", `--patch={"spec":{"source":{"catalog":{"version":"9.9.9"}}}}`),
		w.kubectlWith(extension("kiln", "packageName: kiln-operator", "version: 9.9.9"), "replace", "-f", "-"),
		w.apply(extension("kiln", "packageName: kiln-operator", "version: 9.9.9")),
	} {
		a.denied("NoMatchingVersion", "The nearest version is 1.2.0", `set spec.source.catalog.version: "1.2.0"`)
	}
	if version := w.kubectl("get", "clusterextension", "kiln", "-o", "jsonpath={.spec.source.catalog.version}"); version.out != "1.0.0" {
		t.Errorf("denied edits left version %q", version.out)
	}
	w.kubectl("patch", "clusterextension", "kiln", "--type=merge", `--patch={"spec":{"source":{"catalog":{"version":"1.2.0"}}}}`).admitted()
}

func TestUpgradeFollowsThePathThatIsSuggested(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	w.apply(extension("kiln", "packageName: kiln-operator", "version: 1.0.0")).admitted()
	install := func(version string) {
		t.Helper()
		w.kubectl("patch", "clusterextension", "kiln", "--subresource=status", "--type=merge",
			`--patch={"status":{"install":{"bundle":{"name":"kiln-operator.v`+version+`","version":"`+version+`"}}}}`).admitted()
	}
	install("1.0.0")

	denial := w.apply(extension("kiln", "packageName: kiln-operator", "version: 1.2.0")).
		denied("NoUpgradePath", "Shortest path: 1.0.0 -> 1.0.1 -> 1.2.0.", "upgradeConstraintPolicy: SelfCertified")
	_, hop, found := strings.Cut(denial.errs, "first, to take the next step, set spec.source.catalog.")
	if !found {
		t.Fatal("the denial suggests no next step")
	}
	hop, _, _ = strings.Cut(hop, "\n")
	w.apply(extension("kiln", "packageName: kiln-operator", hop)).admitted()
	install("1.0.1")
	w.apply(extension("kiln", "packageName: kiln-operator", "version: 1.2.0")).admitted()
	install("1.2.0")
	w.apply(extension("kiln", "packageName: kiln-operator", "version: 1.0.0")).denied("NoUpgradePath", "the installed 1.2.0")
	w.apply(extension("kiln", "packageName: kiln-operator", "version: 1.0.0", "upgradeConstraintPolicy: SelfCertified")).
		warned("UpgradeConstraintsIgnored", "1.2.0", "1.0.0")
}
