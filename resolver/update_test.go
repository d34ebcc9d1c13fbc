package resolver_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"pgregory.net/rapid"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/resolver"
)

// kiln has a chain of upgrades over two channels: stable 1.0.0 -> 1.1.0 -> 1.2.0 -> 2.0.0, and candidate, which alone
// leads to 2.1.0. Nothing leads to 3.0.0.
const kiln = `
{"schema":"olm.package","name":"kiln","defaultChannel":"stable"}
{"schema":"olm.channel","package":"kiln","name":"stable","entries":[{"name":"kiln.v1.0.0"},{"name":"kiln.v1.1.0","replaces":"kiln.v1.0.0"},
 {"name":"kiln.v1.2.0","replaces":"kiln.v1.1.0"},{"name":"kiln.v2.0.0","replaces":"kiln.v1.2.0"}]}
{"schema":"olm.channel","package":"kiln","name":"candidate","entries":[{"name":"kiln.v2.0.0"},{"name":"kiln.v2.1.0","replaces":"kiln.v2.0.0"}]}
`

func bundles(versions ...string) string {
	var all strings.Builder
	for _, v := range versions {
		all.WriteString(`{"schema":"olm.bundle","package":"kiln","name":"kiln.v` + v + `","image":"example.com/kiln:` + v +
			`","properties":[{"type":"olm.package","value":{"packageName":"kiln","version":"` + v + `"}}]}` + "\n")
	}
	return all.String()
}

func TestOutlook(t *testing.T) {
	usual := kiln + bundles("1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0")
	const (
		version  = "spec.source.catalog.version"
		channels = "spec.source.catalog.channels"
		edges    = "spec.source.catalog.upgradeConstraintPolicy"
	)
	for name, c := range map[string]struct {
		content   string
		installed string
		version   string
		channels  []string
		certified bool

		available  resolver.Availability
		reason     resolver.Reason
		resolvable string
		newest     string
		heldBy     []string
		hops       int // -1: not said
		says       string
	}{
		"at the newest": {content: usual, installed: "2.1.0",
			available: "False", reason: "UpToDate", resolvable: "2.1.0", newest: "2.1.0", says: "2.1.0 is installed, and catalog pottery has nothing newer"},
		"the next of several": {content: usual, installed: "1.1.0",
			available: "True", reason: "WithinConstraints", resolvable: "1.2.0", newest: "2.1.0", hops: 3,
			says: "1.1.0 is installed; 1.2.0 would be installed within the constraints; newer still is 2.1.0 in catalog pottery, 3 upgrades away: 1.1.0 -> 1.2.0 -> 2.0.0 -> 2.1.0"},
		"the last of several": {content: usual, installed: "2.0.0",
			available: "True", reason: "WithinConstraints", resolvable: "2.1.0", newest: "2.1.0", hops: 1,
			says: "2.0.0 is installed; 2.1.0 would be installed within the constraints"},
		"held back by a range": {content: usual, installed: "1.2.0", version: "1.x",
			available: "True", reason: "HeldBack", resolvable: "1.2.0", newest: "2.1.0", heldBy: []string{version}, hops: 2,
			says: `1.2.0 is installed and the best that the constraints admit; newer is 2.1.0 in catalog pottery, held back by spec.source.catalog.version "1.x", 2 upgrades away: 1.2.0 -> 2.0.0 -> 2.1.0`},
		"held back by a channel": {content: usual, installed: "2.0.0", channels: []string{"stable"},
			available: "True", reason: "HeldBack", resolvable: "2.0.0", newest: "2.1.0", heldBy: []string{channels}, hops: 1,
			says: "held back by spec.source.catalog.channels [stable]"},
		"held back by both": {content: usual, installed: "1.2.0", version: "1.x", channels: []string{"stable"},
			available: "True", reason: "HeldBack", resolvable: "1.2.0", newest: "2.1.0", heldBy: []string{version, channels}, hops: 2},
		"no edge leads on": {content: usual + bundles("3.0.0"), installed: "2.1.0",
			available: "True", reason: "HeldBack", resolvable: "2.1.0", newest: "3.0.0", heldBy: []string{edges}, hops: -1,
			says: "held back by the upgrade edges, of which none leads there"},
		"nothing qualifies": {content: usual, installed: "1.0.0", version: "9.x",
			available: "True", reason: "HeldBack", newest: "2.1.0", heldBy: []string{version}, hops: 4,
			says: "1.0.0 is installed, and nothing qualifies (NoMatchingVersion); newer is 2.1.0"},
		"self-certified jump": {content: usual + bundles("3.0.0"), installed: "1.0.0", certified: true,
			available: "True", reason: "WithinConstraints", resolvable: "3.0.0", newest: "3.0.0", hops: 1},
		"self-certified downgrade": {content: usual, installed: "2.0.0", version: "1.0.0", certified: true,
			available: "True", reason: "WithinConstraints", resolvable: "1.0.0", newest: "2.1.0", heldBy: []string{version}, hops: 1,
			says: "1.0.0 would be installed within the constraints, which is older"},
		"prereleases are not newer": {content: usual + bundles("4.0.0-rc.1"), installed: "2.1.0",
			available: "False", reason: "UpToDate", resolvable: "2.1.0", newest: "2.1.0"},
		"deprecated bundles are not newer": {content: usual + bundles("3.0.0") +
			`{"schema":"olm.deprecations","package":"kiln","entries":[{"reference":{"schema":"olm.bundle","name":"kiln.v3.0.0"},"message":"bad"}]}`, installed: "2.1.0",
			available: "False", reason: "UpToDate", resolvable: "2.1.0", newest: "2.1.0"},
		"installed one is not in the catalog": {content: usual, installed: "0.5.0",
			available: "True", reason: "HeldBack", newest: "2.1.0", heldBy: []string{edges}, hops: -1},
		"nothing installed": {content: usual,
			available: "False", reason: "NotInstalled", resolvable: "2.1.0", hops: -1, says: "nothing is installed yet; kiln.v2.1.0 would be"},
		"a range that cannot be read": {content: usual, installed: "1.0.0", version: "1.2.3-01",
			available: "Unknown", reason: "InvalidVersionRange", hops: -1},
		"no such package": {content: "", installed: "1.0.0",
			available: "Unknown", reason: "PackageNotFound", hops: -1},
		"an installed version that cannot be read": {content: usual, installed: "one", certified: true,
			available: "Unknown", reason: "InvalidInstalledVersion", resolvable: "2.1.0", hops: -1},
	} {
		t.Run(name, func(t *testing.T) {
			ext := &ocv1.ClusterExtension{}
			ext.Spec.Source.Catalog = &ocv1.CatalogFilter{PackageName: "kiln", Version: c.version, Channels: c.channels}
			if c.certified {
				ext.Spec.Source.Catalog.UpgradeConstraintPolicy = ocv1.UpgradeConstraintPolicySelfCertified
			}
			if c.installed != "" {
				ext.Status.Install = &ocv1.ClusterExtensionInstallStatus{Bundle: ocv1.BundleMetadata{Name: "kiln.v" + c.installed, Version: c.installed}}
			}
			index, err := catalog.Read(strings.NewReader(c.content), catalog.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			v := resolver.Outlook(ext, []resolver.Catalog{{Name: "pottery", Serving: true, Content: catalog.Content{Index: index}}}, resolver.RulePackage)
			u := v.Update
			hops := -1
			if u.Hops != nil {
				hops = *u.Hops
			}
			if u.Available != c.available || u.Reason != c.reason || versionOf(u.Resolvable) != c.resolvable || versionOf(u.Newest) != c.newest ||
				versionOf(u.Installed) != c.installed || !slices.Equal(u.HeldBy, c.heldBy) || hops != c.hops || !strings.Contains(u.Message, c.says) {
				t.Errorf("got %s", indented(t, u))
			}
		})
	}
}

func versionOf(b *resolver.Bundle) string {
	if b == nil {
		return ""
	}
	return b.Version
}

func indented(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestOutlookAgreesWithResolve: the verdict is the same, and the update fits to it.
func TestOutlookAgreesWithResolve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		rule := oneOf(t, "rule", rules)
		v := resolver.Outlook(w.extension(), w.inputs(), rule)
		u := v.Update
		v.Update = nil
		if got, want := asText(t, v), asText(t, resolver.Resolve(w.extension(), w.inputs(), rule)); got != want {
			t.Fatalf("world: %s\ngot\n%s\nwant\n%s", w, got, want)
		}
		if u.HeldBy == nil || u.Message == "" || u.Reason == "" || (u.Resolvable == nil) != (v.Bundle == nil) {
			t.Fatalf("world: %s\nsomething is missing in %+v", w, u)
		}
		if v.Outcome == resolver.OutcomeUndecided && u.Available == resolver.UpdateAvailable {
			t.Fatalf("world: %s\nundecided, but %+v", w, u)
		}
		if u.Reason == resolver.HeldBack && v.Bundle != nil && u.Newest.Name == v.Bundle.Name {
			t.Fatalf("world: %s\nheld back, but chosen: %+v", w, u)
		}
	})
}

// TestWithoutWhatHoldsItBackTheNewestIsReached drops the constraints that are named, and then walks: each bundle that a
// pinned request resolves to counts as installed next.
func TestWithoutWhatHoldsItBackTheNewestIsReached(t *testing.T) {
	held := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := resolver.Outlook(w.extension(), w.inputs(), resolver.RulePackage)
		u := v.Update
		if u.Newest == nil || u.Available != resolver.UpdateAvailable || u.Reason != resolver.HeldBack {
			return
		}
		if len(u.HeldBy) == 0 && v.Outcome != resolver.OutcomeResolved {
			return // what stands in the way is not a constraint, or one that only the next hop meets
		}
		held++
		ext := w.extension()
		for _, field := range u.HeldBy {
			switch field {
			case "spec.source.catalog.version":
				ext.Spec.Source.Catalog.Version = ""
			case "spec.source.catalog.channels":
				ext.Spec.Source.Catalog.Channels = nil
			case "spec.source.catalog.upgradeConstraintPolicy":
				ext.Spec.Source.Catalog.UpgradeConstraintPolicy = ocv1.UpgradeConstraintPolicySelfCertified
			default:
				t.Fatalf("held by %q", field)
			}
		}
		again := resolver.Outlook(ext, w.inputs(), resolver.RulePackage).Update
		if again.Reason == resolver.CatalogContentUnavailable {
			return // it failed whatever the catalog without content holds; something else does not
		}
		if again.Newest == nil || len(again.HeldBy) > 0 || again.Hops == nil {
			t.Fatalf("world: %s\nheld back by %v, and without by %v: %+v", w, u.HeldBy, again.HeldBy, again)
		}
		if u.Hops != nil && *again.Hops != *u.Hops && again.Newest.Name == u.Newest.Name {
			t.Fatalf("world: %s\n%d hops, and without what holds back %d", w, *u.Hops, *again.Hops)
		}
	})
	if held == 0 {
		t.Error("no world held anything back: the generator has changed")
	}
}
