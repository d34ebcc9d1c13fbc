package resolver_test

import (
	"slices"
	"strconv"
	"strings"

	mm "github.com/Masterminds/semver/v3"
	"github.com/blang/semver/v4"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/olmgate/olmgate/resolver"
)

// This file is a second resolver, as plain as can be: loops over what the world holds, each rule written out as it is
// documented, nothing indexed, nothing shared with the resolver but the names of the reasons. The properties compare
// the two.

// modelAnswer is what the model says.
type modelAnswer struct {
	outcome   resolver.Outcome
	reason    resolver.Reason
	field     string
	catalog   string // the selected one
	bundle    string // name, version and release
	at        int    // position of the chosen bundle in its package, for comparing answers
	ambiguous []string
	missing   []string // the catalogs whose content could change the outcome
	notes     []resolver.Reason
	gone      []string // deprecations: scope, name and message
}

// model answers by one rule, with the notes.
func model(w world, rule resolver.Rule) modelAnswer {
	a := modelWithoutDiffers(w, rule)
	other := resolver.RuleBundle
	if rule == resolver.RuleBundle {
		other = resolver.RulePackage
	}
	o := modelWithoutDiffers(w, other)
	oneResolves := a.outcome == resolver.OutcomeResolved || o.outcome == resolver.OutcomeResolved
	undecided := a.outcome == resolver.OutcomeUndecided || o.outcome == resolver.OutcomeUndecided
	if oneResolves && !undecided && (a.outcome != o.outcome || a.catalog != o.catalog || a.at != o.at) {
		a.notes = append(a.notes, resolver.SelectionDiffers)
	}
	slices.Sort(a.notes)
	return a
}

func modelWithoutDiffers(w world, rule resolver.Rule) modelAnswer {
	failed := func(reason resolver.Reason, field string) modelAnswer {
		return modelAnswer{outcome: resolver.OutcomeFailed, reason: reason, field: field, at: -1}
	}
	const source = "spec.source.catalog"
	// Step 0.
	if w.Ext.Package == "" {
		return failed(resolver.MissingCatalogSource, source)
	}
	if _, ok := modelSelector(w.Ext.Selector); !ok {
		return failed(resolver.InvalidSelector, source+".selector.matchExpressions[0].operator")
	}
	if w.Ext.Version != "" {
		if _, err := mm.NewConstraint(w.Ext.Version); err != nil {
			return failed(resolver.InvalidVersionRange, source+".version")
		}
	}
	if in := w.Ext.Installed; in != nil && !w.Ext.SelfCertified {
		if _, ok := modelVersion(&in.Version, in.Release); !ok {
			return failed(resolver.InvalidInstalledVersion, "status.install.bundle.version")
		}
	}
	// Steps 1 and 2.
	var left []worldCatalog
	for _, c := range w.Catalogs {
		if modelSelects(w.Ext.Selector, c) && !c.Unavailable && !c.Deleting {
			left = append(left, c)
		}
	}
	var a modelAnswer
	switch {
	case len(left) == 0:
		a = failed(resolver.NoCatalogsSelected, source+".selector")
	case rule == resolver.RuleBundle:
		a = modelByBundle(w, left)
	default:
		a = modelByPackage(w, left)
	}
	// Notes on the request and on the catalogs.
	for _, c := range left {
		if c.Outdated && !c.Missing {
			a.note(resolver.CatalogContentOutdated)
		}
		if c.NotServing && a.outcome != resolver.OutcomeUndecided {
			a.note(resolver.CatalogNotServing)
		}
	}
	if w.Ext.Installed == nil && w.Ext.Unknown {
		a.note(resolver.InstalledStateUnknown)
	}
	if strings.Contains(w.Ext.Version, "+") {
		a.note(resolver.ReleasePinIgnored)
	}
	if slices.Contains(unsatisfiable, w.Ext.Version) {
		a.note(resolver.UnsatisfiableRange)
	}
	for _, c := range left {
		if c.Name == a.catalog {
			a.describe(w, c)
		}
	}
	return a
}

func (a *modelAnswer) note(r resolver.Reason) {
	if !slices.Contains(a.notes, r) {
		a.notes = append(a.notes, r)
	}
}

// modelSelector is nil for everything.
func modelSelector(s *metav1.LabelSelector) (labels.Selector, bool) {
	if s == nil || len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 {
		return labels.Everything(), true
	}
	compiled, err := metav1.LabelSelectorAsSelector(s)
	return compiled, err == nil
}

func modelSelects(s *metav1.LabelSelector, c worldCatalog) bool {
	compiled, _ := modelSelector(s)
	set := labels.Set{}
	for k, v := range c.Labels {
		set[k] = v
	}
	set[ocv1.MetadataNameLabel] = c.Name
	return compiled.Matches(set)
}

// modelContains is whether the content, known or not, has a package, channel or bundle blob.
func modelContains(c worldCatalog, pkg string) bool {
	p, ok := c.Packages[pkg]
	return ok && (p.Declared || len(p.Channels) > 0 || len(p.Bundles) > 0)
}

// modelByPackage is steps 3 to 7. Unknown content is tried out: each catalog without content may not contain the
// package, contain it and resolve, or contain it and fail.
func modelByPackage(w world, left []worldCatalog) modelAnswer {
	const absent, resolves, fails = 0, 1, 2
	state := map[string]int{}
	var unknown []string
	for _, c := range left {
		switch {
		case c.Missing:
			unknown = append(unknown, c.Name)
		case modelContains(c, w.Ext.Package) && modelBest(w, c, nil) >= 0:
			state[c.Name] = resolves
		case modelContains(c, w.Ext.Package):
			state[c.Name] = fails
		}
	}
	// walk says whether it resolves, and the holders of the group that decides.
	walk := func() (bool, []worldCatalog) {
		var priorities []int32
		for _, c := range left {
			priorities = append(priorities, c.Priority)
		}
		slices.Sort(priorities)
		slices.Reverse(priorities)
		for _, p := range slices.Compact(priorities) {
			var holders []worldCatalog
			for _, c := range left {
				if c.Priority == p && state[c.Name] != absent {
					holders = append(holders, c)
				}
			}
			if len(holders) > 0 {
				return len(holders) == 1 && state[holders[0].Name] == resolves, holders
			}
		}
		return false, nil
	}
	// Try every assignment; a catalog matters when, all others being equal, what it holds changes the outcome.
	matters := map[string]bool{}
	for n := range pow(3, len(unknown)) {
		assign := func(skip int) {
			rest := n
			for i, name := range unknown {
				if i != skip {
					state[name] = rest % 3
				}
				rest /= 3
			}
		}
		for i, name := range unknown {
			assign(i)
			outcomes := map[bool]bool{}
			for _, s := range []int{absent, resolves, fails} {
				state[name] = s
				ok, _ := walk()
				outcomes[ok] = true
			}
			if len(outcomes) == 2 {
				matters[name] = true
			}
		}
	}
	for _, name := range unknown {
		state[name] = absent
	}
	if len(matters) > 0 {
		a := modelAnswer{outcome: resolver.OutcomeUndecided, reason: resolver.CatalogContentUnavailable, at: -1}
		for name := range matters {
			a.missing = append(a.missing, name)
		}
		slices.Sort(a.missing)
		return a
	}
	_, holders := walk()
	switch len(holders) {
	case 0:
		return modelAnswer{outcome: resolver.OutcomeFailed, reason: resolver.PackageNotFound, field: "spec.source.catalog.packageName", at: -1}
	case 1:
		a := modelWithin(w, holders[0])
		for _, c := range left {
			if c.Missing && c.Priority == holders[0].Priority {
				a.note(resolver.CatalogContentUnavailable)
			}
		}
		return a
	}
	return modelTie(holders)
}

func pow(b, n int) int {
	p := 1
	for range n {
		p *= b
	}
	return p
}

func modelTie(tied []worldCatalog) modelAnswer {
	a := modelAnswer{outcome: resolver.OutcomeFailed, reason: resolver.AmbiguousCatalogs, field: "spec.source.catalog.selector", at: -1}
	for _, c := range tied {
		a.ambiguous = append(a.ambiguous, c.Name)
	}
	slices.Sort(a.ambiguous)
	return a
}

// modelByBundle is the second rule.
func modelByBundle(w world, left []worldCatalog) modelAnswer {
	var missing []string
	var holders, offers, current []worldCatalog
	for _, c := range left {
		if c.Missing {
			missing = append(missing, c.Name)
			continue
		}
		if !modelContains(c, w.Ext.Package) {
			continue
		}
		holders = append(holders, c)
		if best := modelBest(w, c, nil); best >= 0 {
			offers = append(offers, c)
			if !modelDeprecated(c.Packages[w.Ext.Package], best) {
				current = append(current, c)
			}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return modelAnswer{outcome: resolver.OutcomeUndecided, reason: resolver.CatalogContentUnavailable, missing: missing, at: -1}
	}
	if len(current) > 0 {
		offers = current
	}
	if len(offers) == 0 {
		switch len(holders) {
		case 0:
			return modelAnswer{outcome: resolver.OutcomeFailed, reason: resolver.PackageNotFound, field: "spec.source.catalog.packageName", at: -1}
		case 1:
			return modelWithin(w, holders[0])
		}
		return modelAnswer{outcome: resolver.OutcomeFailed, reason: resolver.NoMatchingBundle, field: modelNarrowest(w), at: -1}
	}
	top := offers[0].Priority
	for _, c := range offers {
		top = max(top, c.Priority)
	}
	var tied []worldCatalog
	for _, c := range offers {
		if c.Priority == top {
			tied = append(tied, c)
		}
	}
	if len(tied) > 1 {
		return modelTie(tied)
	}
	return modelWithin(w, tied[0])
}

// modelWithin is steps 5 to 7 in the selected catalog.
func modelWithin(w world, c worldCatalog) modelAnswer {
	a := modelAnswer{outcome: resolver.OutcomeFailed, catalog: c.Name, at: modelBest(w, c, nil)}
	if a.at >= 0 {
		b := c.Packages[w.Ext.Package].Bundles[a.at]
		v, _ := modelVersion(b.Version, b.Release)
		a.outcome, a.reason, a.bundle = resolver.OutcomeResolved, resolver.Resolved, b.Name+" "+v.version.String()+" "+strings.Join(v.release, ".")
		return a
	}
	a.reason = modelBlame(w, c)
	switch a.reason {
	case resolver.NoMatchingVersion:
		a.field = "spec.source.catalog.version"
	case resolver.ChannelNotFound, resolver.NoMatchingChannel:
		a.field = "spec.source.catalog.channels[0]"
	default:
		a.field = modelNarrowest(w)
	}
	return a
}

func modelNarrowest(w world) string {
	switch {
	case w.Ext.Version != "":
		return "spec.source.catalog.version"
	case len(w.Ext.Channels) > 0:
		return "spec.source.catalog.channels[0]"
	}
	return "spec.source.catalog.upgradeConstraintPolicy"
}

func modelBlame(w world, c worldCatalog) resolver.Reason {
	exists := false
	for _, ch := range c.Packages[w.Ext.Package].Channels {
		exists = exists || slices.Contains(w.Ext.Channels, ch.Name)
	}
	if len(w.Ext.Channels) > 0 && !exists {
		return resolver.ChannelNotFound
	}
	for _, drop := range [][]string{{"edges"}, {"version"}, {"channels"}, {"edges", "version"}, {"edges", "channels"}, {"version", "channels"}} {
		if modelBest(w, c, drop) >= 0 {
			return map[string]resolver.Reason{"edges": resolver.NoUpgradePath, "version": resolver.NoMatchingVersion, "channels": resolver.NoMatchingChannel}[drop[0]]
		}
	}
	return resolver.NoMatchingBundle
}

// modelBest is the position of the best bundle that qualifies without the dropped constraints, -1 when none does.
func modelBest(w world, c worldCatalog, drop []string) int {
	p := c.Packages[w.Ext.Package]
	best := -1
	for i := range p.Bundles {
		if modelQualifies(w, p, i, drop) && (best < 0 || modelBetter(p, i, best)) {
			best = i
		}
	}
	return best
}

func modelBetter(p worldPackage, i, j int) bool {
	if di, dj := modelDeprecated(p, i), modelDeprecated(p, j); di != dj {
		return dj
	}
	a, _ := modelVersion(p.Bundles[i].Version, p.Bundles[i].Release)
	b, _ := modelVersion(p.Bundles[j].Version, p.Bundles[j].Release)
	if c := a.compare(b); c != 0 {
		return c > 0
	}
	return p.Bundles[i].Name < p.Bundles[j].Name
}

func modelDeprecated(p worldPackage, i int) bool {
	return slices.ContainsFunc(p.Deprecations, func(d worldDeprecation) bool { return d.Schema == "olm.bundle" && d.Name == p.Bundles[i].Name })
}

// modelQualifies is step 5 for one bundle.
func modelQualifies(w world, p worldPackage, i int, drop []string) bool {
	b := p.Bundles[i]
	v, ok := modelVersion(b.Version, b.Release)
	if !ok {
		return false
	}
	channels := w.Ext.Channels
	if slices.Contains(drop, "channels") {
		channels = nil
	}
	if len(channels) > 0 && !modelInChannels(p, b.Name, channels) {
		return false
	}
	if w.Ext.Version != "" && !slices.Contains(drop, "version") && !modelInRange(w.Ext.Version, v) {
		return false
	}
	if w.Ext.Installed != nil && !w.Ext.SelfCertified && !slices.Contains(drop, "edges") {
		if !modelIsInstalled(w, p, v) && !modelSuccessor(w, p, b.Name, channels) {
			return false
		}
	}
	return true
}

func modelInRange(text string, v modelVer) bool {
	c, err := mm.NewConstraint(text)
	if err != nil {
		return false
	}
	plain := v.version
	plain.Build = nil
	m, err := mm.StrictNewVersion(plain.String())
	return err == nil && c.Check(m)
}

func modelInChannels(p worldPackage, bundle string, channels []string) bool {
	for _, ch := range p.Channels {
		for _, e := range ch.Entries {
			if e.Name == bundle && slices.Contains(channels, ch.Name) {
				return true
			}
		}
	}
	return false
}

// modelInstalled is the installed bundle's version, with the release that the catalog knows when the status has none.
func modelInstalled(w world, p worldPackage) (modelVer, bool) {
	in := w.Ext.Installed
	v, ok := modelVersion(&in.Version, in.Release)
	if !ok || in.Release != nil {
		return v, ok
	}
	found := false
	for _, b := range p.Bundles {
		o, usable := modelVersion(b.Version, b.Release)
		if usable && b.Name == in.Name && o.version.Compare(v.version) == 0 && (!found || compareReleases(o.release, v.release) > 0) {
			v.release, found = o.release, true
		}
	}
	return v, true
}

func modelIsInstalled(w world, p worldPackage, v modelVer) bool {
	in, ok := modelInstalled(w, p)
	return ok && v.compare(in) == 0
}

// modelSuccessor is whether an edge of the channels that count leads from the installed bundle to one of this name.
func modelSuccessor(w world, p worldPackage, bundle string, channels []string) bool {
	for _, ch := range p.Channels {
		if len(channels) > 0 && !slices.Contains(channels, ch.Name) {
			continue
		}
		for _, e := range ch.Entries {
			if e.Name == bundle && modelEdge(e, w.Ext.Installed.Name, modelInstalledVersion(w)) {
				return true
			}
		}
	}
	return false
}

// modelInstalledVersion is nil when it does not parse.
func modelInstalledVersion(w world) *semver.Version {
	v, ok := modelVersion(&w.Ext.Installed.Version, w.Ext.Installed.Release)
	if !ok {
		return nil
	}
	return &v.version
}

func modelEdge(e worldEntry, from string, version *semver.Version) bool {
	if e.Replaces == from || slices.Contains(e.Skips, from) {
		return true
	}
	if e.SkipRange == "" || version == nil {
		return false
	}
	in, err := semver.ParseRange(e.SkipRange)
	return err == nil && in(*version)
}

// modelVer is a version with its release.
type modelVer struct {
	version semver.Version
	release []string
}

func (v modelVer) compare(o modelVer) int {
	if c := v.version.Compare(o.version); c != 0 {
		return c
	}
	return compareReleases(v.release, o.release)
}

func compareReleases(a, b []string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		x, xErr := strconv.Atoi(a[i])
		y, yErr := strconv.Atoi(b[i])
		switch {
		case xErr == nil && yErr == nil && x != y:
			return map[bool]int{true: -1, false: 1}[x < y]
		case xErr == nil && yErr != nil:
			return -1
		case xErr != nil && yErr == nil:
			return 1
		case a[i] != b[i]:
			return strings.Compare(a[i], b[i])
		}
	}
	return len(a) - len(b)
}

// modelVersion is the section on versions and releases.
func modelVersion(version, release *string) (modelVer, bool) {
	if version == nil {
		return modelVer{}, false
	}
	v, err := semver.Parse(*version)
	if err != nil {
		return modelVer{}, false
	}
	valid := func(ids []string) bool {
		for _, id := range ids {
			digits := strings.Trim(id, "0123456789") == ""
			if id == "" || digits && len(id) > 1 && id[0] == '0' {
				return false
			}
		}
		return true
	}
	switch {
	case release != nil && *release == "":
		return modelVer{v, nil}, true
	case release != nil:
		ids := strings.Split(*release, ".")
		return modelVer{v, ids}, valid(ids)
	case len(v.Build) > 0 && valid(v.Build):
		ids := v.Build
		v.Build = nil
		return modelVer{v, ids}, true
	}
	return modelVer{v, nil}, true
}

// describe is step 8 and the notes on the package and the choice.
func (a *modelAnswer) describe(w world, c worldCatalog) {
	p := c.Packages[w.Ext.Package]
	channels := w.Ext.Channels
	counts := func(channel string) bool { return len(channels) == 0 || slices.Contains(channels, channel) }
	chosen := ""
	if a.at >= 0 {
		chosen = p.Bundles[a.at].Name
	}
	// Deprecations.
	add := func(scope, name, message string) {
		if line := scope + " " + name + " " + message; !slices.Contains(a.gone, line) {
			a.gone = append(a.gone, line)
		}
	}
	deprecatedChannels := map[string]bool{}
	for _, d := range p.Deprecations {
		switch d.Schema {
		case "olm.package":
			add("Package", w.Ext.Package, d.Message)
			a.note(resolver.PackageDeprecated)
		case "olm.channel":
			deprecatedChannels[d.Name] = true
			if counts(d.Name) {
				add("Channel", d.Name, d.Message)
			}
		case "olm.bundle":
			if a.at >= 0 && d.Name == chosen {
				add("Bundle", d.Name, d.Message)
				a.note(resolver.BundleDeprecated)
			}
			if w.Ext.Installed != nil && d.Name == w.Ext.Installed.Name {
				add("InstalledBundle", d.Name, d.Message)
			}
		}
	}
	slices.Sort(a.gone)
	holders, everyHolderDeprecated := 0, true
	exists := map[string]bool{}
	for _, ch := range p.Channels {
		exists[ch.Name] = true
		if slices.ContainsFunc(ch.Entries, func(e worldEntry) bool { return a.at >= 0 && e.Name == chosen }) {
			holders++
			everyHolderDeprecated = everyHolderDeprecated && deprecatedChannels[ch.Name]
		}
		for _, e := range ch.Entries {
			if _, err := semver.ParseRange(e.SkipRange); e.SkipRange != "" && err != nil && counts(ch.Name) {
				a.note(resolver.InvalidSkipRange)
			}
		}
	}
	if len(channels) == 0 && holders > 0 && everyHolderDeprecated {
		a.note(resolver.ChannelDeprecated)
	}
	found, lost := false, false
	for _, name := range channels {
		if deprecatedChannels[name] {
			a.note(resolver.ChannelDeprecated)
		}
		found, lost = found || exists[name], lost || !exists[name]
	}
	if found && lost {
		a.note(resolver.SomeChannelsNotFound)
	}
	for _, b := range p.Bundles {
		if _, ok := modelVersion(b.Version, b.Release); !ok && (len(channels) == 0 || modelInChannels(p, b.Name, channels)) {
			a.note(resolver.InvalidBundleVersion)
		}
	}
	if a.at < 0 {
		return
	}
	// The choice.
	b := p.Bundles[a.at]
	v, _ := modelVersion(b.Version, b.Release)
	if w.Ext.Version == "" && len(v.version.Pre) > 0 {
		a.note(resolver.PrereleaseSelected)
	}
	if b.Needs {
		a.note(resolver.DependenciesDeclared)
	}
	if b.Modes != "" && b.Modes != "AllNamespaces" {
		a.note(resolver.InstallModeUnsupported)
	}
	for i := range p.Bundles {
		o, ok := modelVersion(p.Bundles[i].Version, p.Bundles[i].Release)
		if ok && i != a.at && modelQualifies(w, p, i, nil) && o.compare(v) == 0 {
			a.note(resolver.DuplicateVersion)
		}
	}
	if major, ok := modelHeadMajor(p); ok && w.Ext.Version == "" && len(channels) == 0 && major != v.version.Major {
		a.note(resolver.MajorJump)
	}
	if in := w.Ext.Installed; in != nil && w.Ext.SelfCertified && !modelIsInstalled(w, p, v) {
		from, ok := modelInstalled(w, p)
		if ok && v.compare(from) < 0 || !modelSuccessor(w, p, b.Name, channels) {
			a.note(resolver.UpgradeConstraintsIgnored)
		}
	}
}

// modelHeadMajor is the major version of the only head of the default channel.
func modelHeadMajor(p worldPackage) (uint64, bool) {
	var entries []worldEntry
	for _, ch := range p.Channels {
		if ch.Name == p.Default {
			entries = append(entries, ch.Entries...)
		}
	}
	heads := map[string]bool{}
	for _, e := range entries {
		led := slices.ContainsFunc(entries, func(o worldEntry) bool {
			return o.Name != e.Name && (o.Replaces == e.Name || slices.Contains(o.Skips, e.Name))
		})
		if !led {
			heads[e.Name] = true
		}
	}
	if !p.Declared || len(heads) != 1 {
		return 0, false
	}
	for name := range heads {
		for _, b := range p.Bundles {
			if b.Name == name {
				v, ok := modelVersion(b.Version, b.Release)
				return v.version.Major, ok
			}
		}
	}
	return 0, false
}
