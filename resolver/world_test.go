package resolver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/resolver"
)

// world is a set of generated catalogs and an extension, in a form that both the resolver's inputs and the model are
// made from.
type world struct {
	Catalogs []worldCatalog
	Ext      worldExtension
}

type worldCatalog struct {
	Name                  string
	Priority              int32
	Labels                map[string]string
	Unavailable, Deleting bool
	NotServing            bool
	Missing, Outdated     bool
	Packages              map[string]worldPackage
}

type worldPackage struct {
	Declared     bool
	Default      string
	Channels     []worldChannel
	Bundles      []worldBundle
	Deprecations []worldDeprecation
}

type worldChannel struct {
	Name    string
	Entries []worldEntry
}

type worldEntry struct {
	Name, Replaces, SkipRange string
	Skips                     []string
}

type worldBundle struct {
	Name    string
	Version *string // nil: no olm.package property
	Release *string
	Needs   bool
	Modes   string // "": no CSV metadata; else the supported install mode
}

type worldDeprecation struct{ Schema, Name, Message string }

type worldExtension struct {
	Package       string
	Version       string
	Channels      []string
	Selector      *metav1.LabelSelector
	SelfCertified bool
	Installed     *ocv1.BundleMetadata
	Unknown       bool // condition Installed is Unknown
}

// extension is the ClusterExtension of the world.
func (w world) extension() *ocv1.ClusterExtension {
	ext := &ocv1.ClusterExtension{}
	ext.Name = "pottery"
	ext.Spec.Source = ocv1.SourceConfig{SourceType: ocv1.SourceTypeCatalog, Catalog: &ocv1.CatalogFilter{
		PackageName: w.Ext.Package, Version: w.Ext.Version, Channels: w.Ext.Channels, Selector: w.Ext.Selector,
	}}
	if w.Ext.SelfCertified {
		ext.Spec.Source.Catalog.UpgradeConstraintPolicy = ocv1.UpgradeConstraintPolicySelfCertified
	}
	if w.Ext.Installed != nil {
		ext.Status.Install = &ocv1.ClusterExtensionInstallStatus{Bundle: *w.Ext.Installed}
	}
	if w.Ext.Unknown {
		ext.Status.Conditions = []metav1.Condition{{Type: "Installed", Status: metav1.ConditionUnknown, Reason: "Failed", LastTransitionTime: metav1.NewTime(time.Unix(0, 0))}}
	}
	return ext
}

// inputs are the catalogs as the resolver takes them.
func (w world) inputs() []resolver.Catalog {
	var list []resolver.Catalog
	for _, c := range w.Catalogs {
		list = append(list, c.input(c.blobs()))
	}
	return list
}

func (c worldCatalog) input(blobs []string) resolver.Catalog {
	in := resolver.Catalog{Name: c.Name, Priority: c.Priority, Labels: c.Labels, Unavailable: c.Unavailable, Deleting: c.Deleting, Serving: !c.NotServing}
	if c.Missing {
		in.Content.Problem = "it is being fired"
		return in
	}
	index, err := catalog.Read(strings.NewReader(strings.Join(blobs, "\n")), catalog.Limits{})
	if err != nil {
		panic(err) // cannot be: the blobs are generated
	}
	in.Content = catalog.Content{Index: index, Outdated: c.Outdated}
	return in
}

// blobs are the content of the catalog.
func (c worldCatalog) blobs() []string {
	var list []string
	add := func(v map[string]any) {
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err) // cannot be
		}
		list = append(list, string(raw))
	}
	for name, p := range c.Packages {
		if p.Declared {
			add(map[string]any{"schema": "olm.package", "name": name, "defaultChannel": p.Default})
		}
		for _, ch := range p.Channels {
			entries := []any{}
			for _, e := range ch.Entries {
				entries = append(entries, map[string]any{"name": e.Name, "replaces": e.Replaces, "skips": e.Skips, "skipRange": e.SkipRange})
			}
			add(map[string]any{"schema": "olm.channel", "package": name, "name": ch.Name, "entries": entries})
		}
		for _, b := range p.Bundles {
			properties := []any{}
			if b.Version != nil {
				value := map[string]any{"packageName": name, "version": *b.Version}
				if b.Release != nil {
					value["release"] = *b.Release
				}
				properties = append(properties, map[string]any{"type": "olm.package", "value": value})
			}
			if b.Needs {
				properties = append(properties, map[string]any{"type": "olm.gvk.required", "value": map[string]any{"group": "g", "version": "v1", "kind": "Clay"}})
			}
			if b.Modes != "" {
				properties = append(properties, map[string]any{"type": "olm.csv.metadata", "value": map[string]any{"installModes": []any{map[string]any{"type": b.Modes, "supported": true}}}})
			}
			add(map[string]any{"schema": "olm.bundle", "package": name, "name": b.Name, "image": "example.com/" + b.Name, "properties": properties})
		}
		for _, d := range p.Deprecations {
			add(map[string]any{"schema": "olm.deprecations", "package": name, "entries": []any{
				map[string]any{"reference": map[string]any{"schema": d.Schema, "name": d.Name}, "message": d.Message}}})
		}
	}
	return list
}

func (w world) String() string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(w); err != nil {
		return err.Error()
	}
	return out.String()
}

// The names that generated catalogs are made of. They are few, so that what is asked for is often there.
var (
	packageNames  = []string{"kiln", "kiln", "kiln", "kiln", "oven"}
	channelNames  = []string{"stable", "fast", "slow"}
	bundleNames   = []string{"b0", "b1", "b2", "b3", "b4", "b5"}
	versionTexts  = []string{"1.0.0", "1.0.0", "1.0.1", "1.0.1", "1.1.0", "1.1.0", "1.2.0", "1.3.0", "2.0.0", "1.1.0-rc.1", "1.1.0+1", "1.1.0+2", "1.1.0+2.el9", "1.0.0+01", "2.0.0", "2.0.0-alpha", "2.1.0", "v1.0.0", ""}
	releaseTexts  = []string{"", "1", "2", "10", "2.el9", "01"}
	skipRanges    = []string{"", "", "", ">=1.0.0 <1.1.0", "<2.0.0", ">1.0.0", "~1.0", ">=1.x <2", "=1.0.0"}
	versionRanges = []string{"", "", "", "", "1.0.0", "1.1.0", "1.x", "*", ">=1.0.0", ">=1.1.0-0", "<2.0.0", "~1.0", "^1.0.1", "1.0.0 || 2.x", ">=2.0.0-0, <2.0.0", "1.1.0+2", "3.x", "!=1.1.0"}
	unsatisfiable = []string{">=1.3.0 <1.2.0", "1.2.3 2.0.0", ">1.0.0 <1.0.0-0"}
	unreadable    = []string{"latest", "1.2.3-01", ">=|"}
)

// below draws a number from 0 to n-1, each as likely as any: rapid's own ranges favour the small ones so much that few
// of the worlds would hold anything.
func below(t *rapid.T, label string, n int) int {
	v := 0
	for _, bit := range rapid.SliceOfN(rapid.Bool(), 10, 10).Draw(t, label) {
		v *= 2
		if bit {
			v++
		}
	}
	return v * n >> 10
}

func chance(t *rapid.T, percent int, label string) bool { return below(t, label, 100) >= 100-percent }

func oneOf[T any](t *rapid.T, label string, list []T) T { return list[below(t, label, len(list))] }

func some[T any](t *rapid.T, label string, from []T, most int) []T {
	var list []T
	for range below(t, label+" count", most+1) {
		list = append(list, oneOf(t, label, from))
	}
	return list
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func drawWorld(t *rapid.T) world {
	var w world
	catalogs := 1 + below(t, "catalogs", 4)
	if chance(t, 3, "no catalogs") {
		catalogs = 0
	}
	for i := range catalogs {
		w.Catalogs = append(w.Catalogs, drawCatalog(t, fmt.Sprintf("cat-%c", 'a'+i)))
	}
	w.Ext = drawExtension(t, w)
	return w
}

func drawCatalog(t *rapid.T, name string) worldCatalog {
	c := worldCatalog{
		Name:        name,
		Priority:    oneOf(t, "priority", []int32{0, 0, 0, 1, 1, -5, 100}),
		Labels:      map[string]string{"tier": oneOf(t, "tier", []string{"gold", "silver"})},
		Unavailable: chance(t, 4, "unavailable"),
		Deleting:    chance(t, 4, "deleting"),
		NotServing:  chance(t, 10, "not serving"),
		Missing:     chance(t, 12, "missing"),
		Outdated:    chance(t, 10, "outdated"),
		Packages:    map[string]worldPackage{},
	}
	for _, p := range append(some(t, "package", packageNames, 1), oneOf(t, "package", append([]string{"spare"}, packageNames...))) {
		c.Packages[p] = drawPackage(t)
	}
	return c
}

func drawPackage(t *rapid.T) worldPackage {
	p := worldPackage{Declared: chance(t, 90, "declared"), Default: oneOf(t, "default channel", append([]string{"gone", "stable"}, channelNames...))}
	for _, name := range distinct(some(t, "bundle", bundleNames, 8)) {
		b := worldBundle{Name: name, Needs: chance(t, 8, "needs"), Modes: oneOf(t, "modes", []string{"", "", "AllNamespaces", "OwnNamespace"})}
		if chance(t, 95, "has version") {
			v := oneOf(t, "version", versionTexts)
			b.Version = &v
			if chance(t, 20, "has release") {
				r := oneOf(t, "release", releaseTexts)
				b.Release = &r
			}
		}
		p.Bundles = append(p.Bundles, b)
	}
	for _, name := range some(t, "channel", channelNames, 3) {
		ch := worldChannel{Name: name}
		for range below(t, "entries", 6) {
			e := worldEntry{Name: oneOf(t, "entry", bundleNames), SkipRange: oneOf(t, "skipRange", skipRanges)}
			if chance(t, 50, "replaces") {
				e.Replaces = oneOf(t, "replaced", bundleNames)
			}
			if chance(t, 20, "skips") {
				e.Skips = some(t, "skipped", bundleNames, 2)
			}
			ch.Entries = append(ch.Entries, e)
		}
		p.Channels = append(p.Channels, ch)
	}
	for range max(0, below(t, "deprecations", 6)-2) {
		d := worldDeprecation{Schema: oneOf(t, "deprecated", []string{"olm.package", "olm.channel", "olm.bundle", "olm.bundle", "olm.bundle"}), Message: oneOf(t, "message", []string{"", "gone soon"})}
		switch d.Schema {
		case "olm.channel":
			d.Name = oneOf(t, "deprecated channel", channelNames)
		case "olm.bundle":
			d.Name = oneOf(t, "deprecated bundle", bundleNames)
		}
		p.Deprecations = append(p.Deprecations, d)
	}
	return p
}

func drawExtension(t *rapid.T, w world) worldExtension {
	e := worldExtension{Package: oneOf(t, "package asked for", packageNames), SelfCertified: chance(t, 20, "self-certified")}
	switch {
	case chance(t, 4, "unsatisfiable"):
		e.Version = oneOf(t, "range", unsatisfiable)
	case chance(t, 3, "unreadable"):
		e.Version = oneOf(t, "range", unreadable)
	default:
		e.Version = oneOf(t, "range", versionRanges)
	}
	if chance(t, 50, "asks for channels") {
		e.Channels = some(t, "channel asked for", append([]string{"nightly"}, channelNames...), 2)
	}
	switch below(t, "selector", 20) {
	case 0:
		e.Selector = &metav1.LabelSelector{}
	case 1:
		e.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
	case 2:
		e.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: ocv1.MetadataNameLabel, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"cat-a"}}}}
	case 3:
		e.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{ocv1.MetadataNameLabel: oneOf(t, "catalog asked for", []string{"cat-a", "cat-b", "cat-z"})}}
	case 4:
		if chance(t, 30, "wrong selector") {
			e.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Like", Values: []string{"g"}}}}
		}
	}
	switch below(t, "installed", 10) {
	case 0, 1, 2, 3:
		e.Installed = &ocv1.BundleMetadata{Name: oneOf(t, "installed bundle", bundleNames), Version: oneOf(t, "installed version", []string{"1.0.0", "1.0.0", "1.0.1", "1.1.0", "1.1.0+2", "2.0.0", "1.1.0-rc.1", "1.1.0-rc.1", "1.0.0", "bad"})}
		if chance(t, 20, "installed release") {
			r := oneOf(t, "release", []string{"", "1", "2", "2.el9", "01"})
			e.Installed.Release = &r
		}
		// As it mostly is: the installed bundle is one of a catalog.
		if c := w.Catalogs; len(c) > 0 && chance(t, 60, "installed from a catalog") {
			if p := c[0].Packages[e.Package]; len(p.Bundles) > 0 && p.Bundles[0].Version != nil {
				e.Installed = &ocv1.BundleMetadata{Name: p.Bundles[0].Name, Version: *p.Bundles[0].Version}
			}
		}
	case 4:
		e.Unknown = true
	}
	return e
}
