package catalog

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// builder collects what blobs say and makes an index of it. Blobs may come in any order.
type builder struct {
	limits   Limits
	packages map[string]*Package
	strings  map[string]string
	text     text
	gvks     map[string][]GVK
	ranges   map[string]bool // skipRange -> parses
	kept     int64           // bytes of text kept
	stats    Stats
	notes    []Note
	// documents counts those of YAML, empty ones too.
	documents int
	// redeclared are packages with several default channels.
	redeclared map[string]bool

	scratch []byte // for icons
	gvkList []GVK
	gvkKey  []byte
}

func newBuilder(l Limits) *builder {
	return &builder{
		limits:   l.withDefaults(),
		packages: map[string]*Package{},
		strings:  map[string]string{},
		gvks:     map[string][]GVK{},
		ranges:   map[string]bool{},

		redeclared: map[string]bool{},
	}
}

// keep returns text as a string, the same one for the same text.
func (b *builder) keep(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	if s, ok := b.strings[string(text)]; ok {
		return s
	}
	s := b.text.add(text)
	b.strings[s] = s
	b.kept += int64(len(s)) + 16
	return s
}

// text keeps strings in a few large pieces of memory. An index has some ten thousand strings, and the garbage collector
// visits every piece in every cycle: one for each string would be most of its work.
type text struct {
	piece *strings.Builder
	size  int // of the piece
}

const (
	leastPiece = 1 << 10
	mostPiece  = 64 << 10
)

func (t *text) add(s []byte) string {
	if len(s) > mostPiece/8 {
		return string(s)
	}
	if t.piece == nil || t.size-t.piece.Len() < len(s) {
		t.size = max(min(2*t.size, mostPiece), leastPiece, len(s))
		t.piece = new(strings.Builder)
		t.piece.Grow(t.size)
	}
	at := t.piece.Len()
	t.piece.Write(s)
	return t.piece.String()[at:]
}

// full says which limit the index has reached, nil when none.
func (b *builder) full() error {
	switch {
	case b.stats.Blobs > b.limits.Blobs:
		return fmt.Errorf("%w: more than %d objects", ErrLimit, b.limits.Blobs)
	case b.kept > b.limits.IndexBytes:
		return fmt.Errorf("%w: the index would be larger than %d bytes", ErrLimit, b.limits.IndexBytes)
	}
	return nil
}

func (b *builder) pkg(name string) *Package {
	p := b.packages[name]
	if p == nil {
		p = &Package{Name: name}
		b.packages[name] = p
		b.kept += 160
	}
	return p
}

// mostNotes bounds the notes of an index: they are for people, and a hostile catalog must not fill the memory with them.
const mostNotes = 1000

func (b *builder) note(pkg, format string, args ...any) {
	if len(b.notes) == 2*mostNotes {
		b.notes = firstNotes(b.notes)
	}
	b.notes = append(b.notes, Note{Package: pkg, Message: fmt.Sprintf(format, args...)})
}

// firstNotes are the notes in order, as many as an index keeps: which, must not depend on the order of the blobs.
func firstNotes(notes []Note) []Note {
	slices.SortFunc(notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Message, b.Message))
	})
	return notes[:min(len(notes), mostNotes)]
}

func (b *builder) addPackage(name, defaultChannel string) {
	if name == "" {
		b.note("", "an %s object has no name and is ignored", SchemaPackage)
		return
	}
	p := b.pkg(name)
	if p.Declared && p.DefaultChannel != defaultChannel {
		b.redeclared[name] = true
		defaultChannel = max(p.DefaultChannel, defaultChannel) // the choice must not depend on the order
	}
	p.Declared, p.DefaultChannel = true, defaultChannel
}

func (b *builder) addChannel(pkg, name string, entries []Entry) {
	if pkg == "" {
		b.note("", "channel %.80q names no package and is ignored", name)
		return
	}
	p := b.pkg(pkg)
	p.Channels = append(p.Channels, Channel{Name: name, Entries: entries})
	b.kept += 40 + 96*int64(len(entries))
}

func (b *builder) addBundle(pkg string, bundle Bundle) {
	if pkg == "" {
		b.note("", "bundle %.80q names no package and is ignored", bundle.Name)
		return
	}
	if bundle.Problem != "" {
		b.note(pkg, "bundle %.80q takes no part: %s", bundle.Name, bundle.Problem)
	}
	p := b.pkg(pkg)
	p.Bundles = append(p.Bundles, bundle)
	b.kept += 200 + 40*int64(len(bundle.Version.Pre)) + 16*int64(len(bundle.Version.Build))
}

func (b *builder) addDeprecations(pkg string, list []Deprecation) {
	if pkg == "" {
		b.note("", "an %s object names no package and is ignored", SchemaDeprecations)
		return
	}
	p := b.pkg(pkg)
	for _, d := range list {
		switch d.Schema {
		case SchemaPackage:
			d.Name = ""
		case SchemaChannel, SchemaBundle:
		default:
			b.note(pkg, "a deprecation of schema %.80q is ignored", d.Schema)
			continue
		}
		p.Deprecations = append(p.Deprecations, d)
		b.kept += 48
	}
}

// entry completes an entry of a channel.
func (b *builder) entry(pkg string, e Entry) Entry {
	e.Bundle = -1
	if e.SkipRange != "" {
		ok, seen := b.ranges[e.SkipRange]
		if !seen {
			_, err := semver.ParseRange(e.SkipRange)
			ok = err == nil
			b.ranges[e.SkipRange] = ok
		}
		if e.BadSkipRange = !ok; !ok {
			b.note(pkg, "entry %.80q has the skipRange %.80q, which does not parse and is no upgrade edge", e.Name, e.SkipRange)
		}
	}
	b.kept += 16 * int64(len(e.Skips))
	return e
}

// sharedGVKs returns list as a slice of its own, the same one for the same list: most versions of an operator provide
// the same APIs.
func (b *builder) sharedGVKs(list []GVK) []GVK {
	if len(list) == 0 {
		return nil
	}
	key := b.gvkKey[:0]
	for _, g := range list {
		for _, part := range [...]string{g.Group, g.Version, g.Kind} {
			key = append(key, part...)
			key = append(key, 0)
		}
	}
	b.gvkKey = key
	if shared, ok := b.gvks[string(key)]; ok {
		return shared
	}
	shared := slices.Clip(slices.Clone(list))
	b.gvks[string(key)] = shared
	b.kept += int64(len(key)) + 48*int64(len(list))
	return shared
}

// index makes the index. The builder must not be used afterwards.
func (b *builder) index() *Index {
	x := &Index{packages: make([]Package, 0, len(b.packages)), stats: b.stats}
	for _, p := range b.packages {
		x.packages = append(x.packages, *p)
	}
	slices.SortFunc(x.packages, func(a, b Package) int { return cmp.Compare(a.Name, b.Name) })
	for i := range x.packages {
		p := &x.packages[i]
		settle(p)
		if b.redeclared[p.Name] {
			b.note(p.Name, "more than one %s object, with different default channels; %.80q is taken", SchemaPackage, p.DefaultChannel)
		}
		b.absentNotes(p)
	}
	x.notes = firstNotes(b.notes)
	x.count()
	return x
}

// settle sorts a package's parts, joins channels of one name and ties entries to bundles.
func settle(p *Package) {
	slices.SortFunc(p.Bundles, compareBundles)
	p.Bundles = slices.Clip(p.Bundles)
	slices.SortStableFunc(p.Channels, func(a, b Channel) int { return cmp.Compare(a.Name, b.Name) })
	joined := p.Channels[:0]
	for _, c := range p.Channels {
		if n := len(joined); n > 0 && joined[n-1].Name == c.Name {
			joined[n-1].Entries = append(joined[n-1].Entries, c.Entries...)
			continue
		}
		joined = append(joined, c)
	}
	p.Channels = slices.Clip(joined)
	for i := range p.Channels {
		entries := p.Channels[i].Entries
		slices.SortFunc(entries, compareEntries)
		for j := range entries {
			entries[j].Bundle = p.FirstBundle(entries[j].Name)
		}
		p.Channels[i].Entries = slices.Clip(entries)
	}
	slices.SortFunc(p.Deprecations, func(a, b Deprecation) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Message, b.Message))
	})
	p.Deprecations = slices.Clip(slices.Compact(p.Deprecations))
}

func compareBundles(a, b Bundle) int {
	if c := cmp.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return cmp.Or(a.Version.Compare(b.Version), a.Release.Compare(b.Release), cmp.Compare(a.Image, b.Image),
		cmp.Compare(a.Problem, b.Problem), slices.Compare(a.Version.Build, b.Version.Build),
		cmp.Compare(a.InstallModes, b.InstallModes), slices.CompareFunc(a.GVKs, b.GVKs, func(a, b GVK) int {
			return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
		}), slices.CompareFunc(a.Dependencies, b.Dependencies, func(a, b Property) int {
			return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Value, b.Value))
		}))
}

func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Replaces, b.Replaces), cmp.Compare(a.SkipRange, b.SkipRange),
		slices.Compare(a.Skips, b.Skips))
}

// absentNotes reports entries that replace an absent bundle or have none, one note each per package.
func (b *builder) absentNotes(p *Package) {
	var absent, replaces int
	for i := range p.Channels {
		for j := range p.Channels[i].Entries {
			e := &p.Channels[i].Entries[j]
			if e.Bundle < 0 {
				absent++
			}
			if e.Replaces != "" && p.FirstBundle(e.Replaces) < 0 {
				replaces++
			}
		}
	}
	if absent > 0 {
		b.note(p.Name, "%d channel entries name bundles that the catalog does not hold", absent)
	}
	if replaces > 0 {
		b.note(p.Name, "%d channel entries replace bundles that the catalog does not hold", replaces)
	}
}

func (x *Index) count() {
	s := &x.stats
	s.Packages, s.Channels, s.Entries, s.Bundles, s.Deprecations = 0, 0, 0, 0, 0
	for i := range x.packages {
		p := &x.packages[i]
		if p.Contained() {
			s.Packages++
		}
		s.Channels += len(p.Channels)
		for j := range p.Channels {
			s.Entries += len(p.Channels[j].Entries)
		}
		s.Bundles += len(p.Bundles)
		s.Deprecations += len(p.Deprecations)
	}
}

// excerpt is the beginning of a text for a message, on one line.
func excerpt(text []byte) string {
	const most = 60
	cut := len(text) > most
	if cut {
		text = text[:most]
	}
	text = bytes.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	if cut {
		return string(text) + "..."
	}
	return string(text)
}
