package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Types of bundle properties that the index keeps.
const (
	typePackage         = "olm.package"
	typePackageRequired = "olm.package.required"
	typeGVK             = "olm.gvk"
	typeGVKRequired     = "olm.gvk.required"
	typeConstraint      = "olm.constraint"
	typeCSVMetadata     = "olm.csv.metadata"
)

var errNoSchema = errors.New("the object has no schema, so it is not part of a File-Based Catalog")

// add takes what the index keeps of a scanned blob. raw is the whole object.
func (b *builder) add(s *scanner, o *blob, raw []byte) error {
	b.stats.Blobs++
	if err := b.full(); err != nil {
		return err
	}
	if o.odd || !s.plainMeta(o) || !b.addPlain(s, o) {
		return b.addOdd(raw)
	}
	return nil
}

// plainMeta reports whether schema, package and name are strings where present.
func (s *scanner) plainMeta(o *blob) bool {
	for _, v := range [...]span{o.schema, o.pkg, o.name} {
		if v.present() && !s.isString(v) {
			return false
		}
	}
	return s.isString(o.schema)
}

// addPlain takes what the index keeps. false means that the blob is not of the usual shape: nothing was taken, and
// encoding/json must decide.
func (b *builder) addPlain(s *scanner, o *blob) bool {
	switch string(s.text(o.schema)) {
	case SchemaPackage:
		ok := false
		if b.scratch, ok = s.validIcon(o.icon, b.scratch); !ok || !s.optional(o.defaultChannel) || !s.optional(o.description) || !s.plainProperties(o) {
			return false
		}
		b.addPackage(b.keep(s.stringOr(o.name)), b.keep(s.stringOr(o.defaultChannel)))
	case SchemaChannel:
		if !s.plainProperties(o) {
			return false
		}
		pkg := b.keep(s.stringOr(o.pkg))
		entries, ok := b.entries(s, o.entries, pkg)
		if !ok {
			return false
		}
		b.addChannel(pkg, b.keep(s.stringOr(o.name)), entries)
	case SchemaBundle:
		if !s.optional(o.image) || !s.plainProperties(o) || !s.validImages(o.related) {
			return false
		}
		bundle := Bundle{Name: b.keep(s.stringOr(o.name)), Image: b.keep(s.stringOr(o.image))}
		if !b.properties(s, o, &bundle) {
			return false
		}
		b.addBundle(b.keep(s.stringOr(o.pkg)), bundle)
	case SchemaDeprecations:
		list, ok := b.deprecations(s, o.entries)
		if !ok {
			return false
		}
		b.addDeprecations(b.keep(s.stringOr(o.pkg)), list)
	case "":
		return false
	default:
		b.stats.Unknown++
	}
	return true
}

func (s *scanner) plainProperties(o *blob) bool {
	if v := o.properties; v.present() && s.b[v.lo] != '[' && !s.isNull(v) {
		return false
	}
	return true
}

var entryKeys = []string{"name", "replaces", "skipRange", "skips"}

func (b *builder) entries(s *scanner, v span, pkg string) (list []Entry, ok bool) {
	var m [4]span
	ok = s.elements(v, func(e span) bool {
		if !s.members(e, entryKeys, m[:]) || !s.optional(m[0]) || !s.optional(m[1]) || !s.optional(m[2]) {
			return false
		}
		skips, ok := b.stringList(s, m[3])
		list = append(list, Entry{
			Name: b.keep(s.stringOr(m[0])), Replaces: b.keep(s.stringOr(m[1])), SkipRange: b.keep(s.stringOr(m[2])), Skips: skips,
		})
		return ok
	})
	if !ok {
		return nil, false
	}
	for i := range list { // only now: entry takes notes, and a list of unusual shape is read once more
		list[i] = b.entry(pkg, list[i])
	}
	return list, true
}

func (b *builder) stringList(s *scanner, v span) (list []string, ok bool) {
	ok = s.elements(v, func(e span) bool {
		if s.optional(e) {
			list = append(list, b.keep(s.stringOr(e)))
			return true
		}
		return false
	})
	return list, ok
}

func (b *builder) deprecations(s *scanner, v span) (list []Deprecation, ok bool) {
	ok = s.elements(v, func(e span) bool {
		var m, ref [2]span
		if !s.members(e, []string{"message", "reference"}, m[:]) || !s.optional(m[0]) {
			return false
		}
		if m[1].present() && !s.isNull(m[1]) {
			if !s.members(m[1], []string{"name", "schema"}, ref[:]) || !s.optional(ref[0]) || !s.optional(ref[1]) {
				return false
			}
		}
		list = append(list, Deprecation{
			Schema:  b.keep(s.stringOr(ref[1])),
			Name:    b.keep(s.stringOr(ref[0])),
			Message: b.keep(s.stringOr(m[0])),
		})
		return true
	})
	return list, ok
}

// properties takes what the index keeps of a bundle's properties.
func (b *builder) properties(s *scanner, o *blob, out *Bundle) bool {
	for i := range o.props {
		if !s.optional(o.props[i].typ) {
			return false
		}
	}
	found := false
	b.gvkList = b.gvkList[:0]
	for i := range o.props {
		p := &o.props[i]
		typ := s.stringOr(p.typ)
		switch string(typ) {
		case typePackage:
			if !found {
				found = true
				b.version(s, p.val, out)
			}
		case typeGVK:
			if g, ok := b.gvk(s, p.val); ok {
				b.gvkList = append(b.gvkList, g)
			}
		case typePackageRequired, typeGVKRequired, typeConstraint:
			out.Dependencies = append(out.Dependencies, Property{string(typ), b.keep(canonical(s.b[p.val.lo:p.val.hi]))})
		case typeCSVMetadata:
			out.InstallModes |= CSVMetadata | s.installModes(p)
		}
	}
	out.GVKs = b.sharedGVKs(b.gvkList)
	if !found {
		out.Problem = noVersion
	}
	return true
}

const noVersion = "it has no olm.package property, so no version"

// version reads the value of the first olm.package property.
func (b *builder) version(s *scanner, v span, out *Bundle) {
	var m [3]span
	if !s.members(v, []string{"packageName", "release", "version"}, m[:]) ||
		!s.optional(m[0]) || !s.optional(m[1]) || !s.optional(m[2]) {
		out.setVersionProperty(s.b[v.lo:v.hi])
		return
	}
	var release *string
	if s.isString(m[1]) {
		r := string(s.text(m[1]))
		release = &r
	}
	out.setVersion(string(s.stringOr(m[2])), release)
}

// setVersionProperty reads an olm.package property of unusual shape as OLM's own library does: the last of repeated
// keys wins, then keys match in any case, in the order of the sorted text.
func (o *Bundle) setVersionProperty(raw []byte) {
	var p struct {
		PackageName string  `json:"packageName"`
		Version     string  `json:"version"`
		Release     *string `json:"release"`
	}
	if len(raw) == 0 {
		o.Problem = "its olm.package property has no value"
		return
	}
	if err := json.Unmarshal(canonical(raw), &p); err != nil {
		o.Problem = "its olm.package property cannot be read: " + excerpt([]byte(err.Error()))
		return
	}
	o.setVersion(p.Version, p.Release)
}

func (o *Bundle) setVersion(version string, release *string) {
	v, r, err := ParseVersion(version, release)
	if err != nil {
		o.Problem = err.Error()
		return
	}
	o.Version, o.Release = v, r
}

func (b *builder) gvk(s *scanner, v span) (GVK, bool) {
	var m [3]span
	if !s.members(v, []string{"group", "kind", "version"}, m[:]) || !s.optional(m[0]) || !s.optional(m[1]) || !s.optional(m[2]) {
		var g GVK
		if v.present() && !s.isNull(v) && json.Unmarshal(canonical(s.b[v.lo:v.hi]), &g) == nil {
			return GVK{b.keep([]byte(g.Group)), b.keep([]byte(g.Version)), b.keep([]byte(g.Kind))}, true
		}
		return GVK{}, false
	}
	return GVK{b.keep(s.stringOr(m[0])), b.keep(s.stringOr(m[2])), b.keep(s.stringOr(m[1]))}, true
}

// installModes reads the install modes of CSV metadata.
func (s *scanner) installModes(p *property) InstallModes {
	v := p.installModes
	if !v.present() && p.val.present() && s.b[p.val.lo] == '{' { // its type came after it
		s.scanCSV(p.val.lo, p)
		v = p.installModes
	}
	var modes InstallModes
	s.elements(v, func(e span) bool {
		var m [2]span
		switch plain := s.members(e, []string{"supported", "type"}, m[:]); {
		case !plain:
			modes |= oddInstallMode(s.b[e.lo:e.hi])
		case m[0].present() && s.b[m[0].lo] == 't':
			modes |= installMode(string(s.stringOr(m[1])))
		}
		return true
	})
	return modes
}

// oddInstallMode reads an install mode with keys that are repeated, escaped or spelt otherwise.
func oddInstallMode(raw []byte) InstallModes {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil || m["supported"] != true {
		return 0
	}
	name, _ := m["type"].(string)
	return installMode(name)
}

func installMode(name string) InstallModes {
	switch name {
	case "OwnNamespace":
		return OwnNamespace
	case "SingleNamespace":
		return SingleNamespace
	case "MultiNamespace":
		return MultiNamespace
	case "AllNamespaces":
		return AllNamespaces
	}
	return 0
}

// canonical is JSON as catalogd serves it: keys sorted, no white space, no HTML escapes.
func canonical(raw []byte) []byte {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return raw
	}
	return marshal(v)
}

func marshal(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil // cannot be: v came from JSON
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// schemaError says what is wrong with a blob of a known schema.
func schemaError(schema, name string, err error) error {
	return fmt.Errorf("%s %.80q: %w", schema, name, err)
}
