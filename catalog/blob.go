package catalog

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// blob is one FBC object as the scanner found it: where its parts are, before its schema is known. In catalogd's form
// the schema comes near the end.
type blob struct {
	schema, name, pkg, image, defaultChannel span
	description, icon, entries, related      span
	properties                               span
	props                                    []property
	// odd is true when the plain reading may differ from encoding/json's: keys that differ from known ones in case
	// only, repeated keys, unexpected types. Such a blob is read again by encoding/json.
	odd bool
}

// property is one element of a blob's properties.
type property struct {
	typ, val     span
	installModes span // of the value, when it was met on the way
}

// scanBlob checks the object at i and notes where its parts are.
func (s *scanner) scanBlob(i int, o *blob) int {
	*o = blob{props: o.props[:0]}
	return s.object(i, 0, func(k span, at int) int {
		name, ok := s.name(k)
		var part *span
		switch string(name) {
		case "schema":
			part = &o.schema
		case "name":
			part = &o.name
		case "package":
			part = &o.pkg
		case "image":
			part = &o.image
		case "defaultChannel":
			part = &o.defaultChannel
		case "description":
			part = &o.description
		case "icon":
			part = &o.icon
		case "entries":
			part = &o.entries
		case "relatedImages":
			part = &o.related
		case "properties":
			part = &o.properties
		default:
			o.odd = o.odd || !ok || !plainKey(name)
			return s.value(at, 1)
		}
		o.odd = o.odd || part.present()
		end := 0
		if part == &o.properties && s.b[at] == '[' {
			end = s.array(at, 1, func(at int) int { return s.scanProperty(at, o) })
		} else {
			end = s.value(at, 1)
		}
		*part = span{at, end}
		return end
	})
}

// plainKey reports whether an unknown top-level key is surely no other spelling of a known key and has no other
// spelling itself.
func plainKey(k []byte) bool {
	for _, c := range k {
		if (c < 'a' || c > 'z') && (c < '-' || c > '9') && c != '_' {
			return false
		}
	}
	switch string(k) {
	case "defaultchannel", "relatedimages":
		return false
	}
	return true
}

// scanProperty checks one element of properties and notes where its type and value are. The values of CSV metadata
// are the bulk of a catalog, so what is needed of them is picked up in the same pass.
func (s *scanner) scanProperty(at int, o *blob) int {
	if s.b[at] != '{' {
		o.odd = true
		return s.value(at, 2)
	}
	var p property
	end := s.object(at, 2, func(k span, at int) int {
		name, ok := s.name(k)
		switch {
		case ok && string(name) == "type":
			o.odd = o.odd || p.typ.present() || s.b[at] != '"'
			p.typ = span{at, s.value(at, 3)}
			return p.typ.hi
		case ok && string(name) == "value":
			o.odd = o.odd || p.val.present()
			if s.b[at] == '{' && p.typ.present() && string(s.b[p.typ.lo:p.typ.hi]) == `"olm.csv.metadata"` {
				p.val = span{at, s.scanCSV(at, &p)}
			} else {
				p.val = span{at, s.value(at, 3)}
			}
			return p.val.hi
		}
		o.odd = o.odd || !ok || !otherKey(name, "type", "value")
		return s.value(at, 3)
	})
	o.props = append(o.props, p)
	return end
}

// scanCSV checks CSV metadata and notes where its install modes are.
func (s *scanner) scanCSV(at int, p *property) int {
	return s.object(at, 3, func(k span, at int) int {
		end := s.value(at, 4)
		name, ok := s.name(k)
		if !ok {
			name = s.text(k)
		}
		if string(name) == "installModes" {
			p.installModes = span{at, end}
		}
		return end
	})
}

// otherKey reports whether a key is none of the known ones in any spelling.
func otherKey(k []byte, known ...string) bool {
	for _, n := range known {
		if bytes.EqualFold(k, []byte(n)) {
			return false
		}
	}
	return true
}

// text is the value of a JSON string as encoding/json gives it. The caller has checked that v is a string.
func (s *scanner) text(v span) []byte {
	raw := s.b[v.lo+1 : v.hi-1]
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return raw
	}
	var out string
	if err := json.Unmarshal(s.b[v.lo:v.hi], &out); err != nil {
		return raw // cannot be: the scanner accepted it
	}
	return []byte(out)
}

func (s *scanner) isString(v span) bool { return v.present() && s.b[v.lo] == '"' }

func (s *scanner) isNull(v span) bool { return v.present() && s.b[v.lo] == 'n' }

// optional reports whether a value may stand where encoding/json wants a string.
func (s *scanner) optional(v span) bool { return !v.present() || s.isString(v) || s.isNull(v) }

// stringOr is the text of a string, nil when it is absent or null.
func (s *scanner) stringOr(v span) []byte {
	if s.isString(v) {
		return s.text(v)
	}
	return nil
}

// members notes the values of some keys of the object at v. ok is false when v is no object or the reading is odd.
func (s *scanner) members(v span, keys []string, out []span) (ok bool) {
	clear(out)
	if !v.present() || s.b[v.lo] != '{' {
		return false
	}
	ok = true
	s.object(v.lo, 0, func(k span, at int) int {
		name, plain := s.name(k)
		end := s.value(at, 1)
		for i, key := range keys {
			if string(name) == key {
				ok = ok && !out[i].present()
				out[i] = span{at, end}
				return end
			}
		}
		ok = ok && plain && otherKey(name, keys...)
		return end
	})
	return ok
}

// validIcon reports whether encoding/json would read the icon of a package.
func (s *scanner) validIcon(v span, scratch []byte) ([]byte, bool) {
	if !v.present() || s.isNull(v) {
		return scratch, true
	}
	var m [2]span
	if !s.members(v, []string{"base64data", "mediatype"}, m[:]) || !s.optional(m[0]) || !s.optional(m[1]) {
		return scratch, false
	}
	data := s.stringOr(m[0])
	if n := base64.StdEncoding.DecodedLen(len(data)); cap(scratch) < n {
		scratch = make([]byte, n)
	}
	_, err := base64.StdEncoding.Decode(scratch[:cap(scratch)], data)
	return scratch, err == nil
}

// validImages reports whether encoding/json would read the related images of a bundle.
func (s *scanner) validImages(v span) bool {
	var m [2]span
	return s.elements(v, func(e span) bool {
		return s.members(e, []string{"image", "name"}, m[:]) && s.optional(m[0]) && s.optional(m[1])
	})
}

// elements calls element for the elements of a checked array until it returns false. The result is false when it did,
// or when v is something else than an array, null or absent: all that encoding/json takes for a list.
func (s *scanner) elements(v span, element func(e span) bool) bool {
	if !v.present() || s.isNull(v) {
		return true
	}
	if s.b[v.lo] != '[' {
		return false
	}
	ok := true
	s.array(v.lo, 0, func(at int) int {
		e := span{at, s.value(at, 1)}
		ok = ok && element(e)
		return e.hi
	})
	return ok
}
