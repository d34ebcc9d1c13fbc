package resolver

import (
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgate/olmgate/catalog"
)

// What is true of a bundle under a request. Bits of evaluation.flags.
const (
	usable       uint8 = 1 << iota // has a version
	inChannels                     // entry of a requested channel, or none is requested
	inVersion                      // its version is in the range, or none is given
	reachable                      // an edge of the channels that count leads to it, or it is the installed one, or edges do not count
	reachableAny                   // the same with the edges of all channels; set only on demand
	deprecated                     // an olm.deprecations entry names it
)

// evaluation is what the constraints of a request leave of one package.
type evaluation struct {
	req   *request
	pkg   *catalog.Package
	flags []uint8 // one per bundle of pkg

	installed *installedBundle // with the release that the catalog knows; nil when edges do not count for lack of it
	ranges    map[string]semver.Range

	// How many bundles are left after each step.
	usable, inChannels, inVersion, reachable int
	// best is the position of the chosen bundle, -1 when nothing qualifies.
	best int

	found   []string // requested channels that exist
	missing []string // requested channels that do not
}

// evaluate applies the constraints of the request to the package.
func evaluate(r *request, p *catalog.Package) *evaluation {
	e := &evaluation{req: r, pkg: p, flags: make([]uint8, len(p.Bundles)), best: -1}
	for _, d := range p.Deprecations {
		if d.Schema == catalog.SchemaBundle {
			e.mark(p.FirstBundle(d.Name), deprecated)
		}
	}
	e.markChannels()
	if r.installed != nil {
		e.installed = withCatalogRelease(r.installed, p)
	}
	if r.constrained() {
		e.markReachable(reachable, true)
	}
	for i := range p.Bundles {
		b, f := &p.Bundles[i], &e.flags[i]
		if b.Problem != "" {
			continue
		}
		*f |= usable
		if len(r.channels) == 0 {
			*f |= inChannels
		}
		if r.inRange == nil || inRange(r.inRange, &b.Version) {
			*f |= inVersion
		}
		if !r.constrained() {
			*f |= reachable
		}
		e.count(*f)
	}
	e.best = e.choose(usable | inChannels | inVersion | reachable)
	return e
}

func (e *evaluation) count(f uint8) {
	e.usable++
	if f&inChannels == 0 {
		return
	}
	e.inChannels++
	if f&inVersion == 0 {
		return
	}
	e.inVersion++
	if f&reachable != 0 {
		e.reachable++
	}
}

// mark sets a bit on all bundles of the name of the one at i.
func (e *evaluation) mark(i int, bit uint8) {
	if i < 0 {
		return
	}
	name := e.pkg.Bundles[i].Name
	for ; i < len(e.pkg.Bundles) && e.pkg.Bundles[i].Name == name; i++ {
		e.flags[i] |= bit
	}
}

func (e *evaluation) markChannels() {
	for _, name := range e.req.channels {
		c := e.pkg.Channel(name)
		if c == nil {
			e.missing = append(e.missing, name)
			continue
		}
		e.found = append(e.found, name)
		for i := range c.Entries {
			e.mark(c.Entries[i].Bundle, inChannels)
		}
	}
}

// channels calls fn for each channel whose edges and bundles count: the requested ones, or all when requested is
// false or none is.
func (e *evaluation) eachChannel(requested bool, fn func(*catalog.Channel)) {
	if !requested || len(e.req.channels) == 0 {
		for i := range e.pkg.Channels {
			fn(&e.pkg.Channels[i])
		}
		return
	}
	for _, name := range e.req.channels {
		if c := e.pkg.Channel(name); c != nil {
			fn(c)
		}
	}
}

// markReachable sets bit on the successors of the installed bundle and on the installed bundle itself.
func (e *evaluation) markReachable(bit uint8, requested bool) {
	from := e.installed
	e.eachChannel(requested, func(c *catalog.Channel) {
		for i := range c.Entries {
			if n := &c.Entries[i]; n.Bundle >= 0 && e.leads(n, from.name, from.versionOrNil()) {
				e.mark(n.Bundle, bit)
			}
		}
	})
	if !from.parsed {
		return
	}
	for i := range e.pkg.Bundles {
		if b := &e.pkg.Bundles[i]; b.Problem == "" && from.is(b) {
			e.flags[i] |= bit
		}
	}
}

// leads reports whether the entry has an upgrade edge from a bundle of that name and version (nil: unknown).
func (e *evaluation) leads(n *catalog.Entry, name string, version *semver.Version) bool {
	if n.Replaces == name && name != "" {
		return true
	}
	for _, s := range n.Skips {
		if s == name && name != "" {
			return true
		}
	}
	if version == nil || n.SkipRange == "" || n.BadSkipRange {
		return false
	}
	in, ok := e.ranges[n.SkipRange]
	if !ok {
		in, _ = semver.ParseRange(n.SkipRange)
		if e.ranges == nil {
			e.ranges = map[string]semver.Range{}
		}
		e.ranges[n.SkipRange] = in
	}
	return in != nil && in(*version)
}

// is reports whether a bundle has the installed version and release.
func (in *installedBundle) is(b *catalog.Bundle) bool {
	return in.parsed && b.Version.Compare(in.version) == 0 && b.Release.Compare(in.release) == 0
}

func (in *installedBundle) versionOrNil() *semver.Version {
	if !in.parsed {
		return nil
	}
	return &in.version
}

// withCatalogRelease gives the installed bundle the release that the catalog's bundle of the same name and version
// has, when the status keeps none: the standard CRD prunes it.
func withCatalogRelease(in *installedBundle, p *catalog.Package) *installedBundle {
	if in.withRelease || !in.parsed {
		return in
	}
	var found *catalog.Bundle
	if i := p.FirstBundle(in.name); i >= 0 {
		for ; i < len(p.Bundles) && p.Bundles[i].Name == in.name; i++ {
			b := &p.Bundles[i]
			if b.Problem == "" && b.Version.Compare(in.version) == 0 && (found == nil || b.Release.Compare(found.Release) > 0) {
				found = b
			}
		}
	}
	if found == nil {
		return in
	}
	same := *in
	same.release = found.Release
	return &same
}

// choose returns the position of the best bundle that has all these bits, -1 when none has.
func (e *evaluation) choose(bits uint8) int {
	best := -1
	for i, f := range e.flags {
		if f&bits == bits && (best < 0 || e.better(i, best)) {
			best = i
		}
	}
	return best
}

// better orders candidates: not deprecated first, then the higher version, the higher release, the lower name.
func (e *evaluation) better(i, j int) bool {
	if di, dj := e.flags[i]&deprecated, e.flags[j]&deprecated; di != dj {
		return di < dj
	}
	a, b := &e.pkg.Bundles[i], &e.pkg.Bundles[j]
	if c := a.Version.Compare(b.Version); c != 0 {
		return c > 0
	}
	if c := a.Release.Compare(b.Release); c != 0 {
		return c > 0
	}
	return strings.Compare(a.Name, b.Name) < 0
}

// newest is the highest usable version that has these bits, whatever is deprecated; nil when none has.
func (e *evaluation) newest(bits uint8) *catalog.Bundle {
	var best *catalog.Bundle
	for i, f := range e.flags {
		if f&(bits|usable) != bits|usable {
			continue
		}
		b := &e.pkg.Bundles[i]
		if best == nil || b.Version.Compare(best.Version) > 0 || b.Version.Compare(best.Version) == 0 && b.Release.Compare(best.Release) > 0 {
			best = b
		}
	}
	return best
}
