package catalog

// span is a stretch of the buffer; the zero span is an absent value.
type span struct{ lo, hi int }

func (v span) present() bool { return v.hi > 0 }

// object calls member for each member of the object at i with the span of its key, quotes included, and the position
// of its value's first byte. member returns the position behind the value.
func (s *scanner) object(i, depth int, member func(key span, at int) int) int {
	b := s.b
	if depth >= maxDepth {
		return s.fail(i, "nested too deep")
	}
	if i = s.space(i + 1); i >= len(b) {
		return short
	}
	if b[i] == '}' {
		return i + 1
	}
	for {
		if i = s.space(i); i >= len(b) {
			return short
		}
		if b[i] != '"' {
			return s.fail(i, "expected a key")
		}
		k := span{lo: i}
		if i = s.str(i); i < 0 {
			return i
		}
		k.hi = i
		if i = s.colon(i); i < 0 {
			return i
		}
		if i = s.space(i); i >= len(b) {
			return short
		}
		if i = member(k, i); i < 0 {
			return i
		}
		if i = s.space(i); i >= len(b) {
			return short
		}
		switch b[i] {
		case ',':
			i++
		case '}':
			return i + 1
		default:
			return s.fail(i, "expected a comma or the end of the object")
		}
	}
}

// array calls element with the position of each element of the array at i. element returns the position behind it.
func (s *scanner) array(i, depth int, element func(at int) int) int {
	b := s.b
	if depth >= maxDepth {
		return s.fail(i, "nested too deep")
	}
	if i = s.space(i + 1); i >= len(b) {
		return short
	}
	if b[i] == ']' {
		return i + 1
	}
	for {
		if i = s.space(i); i >= len(b) {
			return short
		}
		if i = element(i); i < 0 {
			return i
		}
		if i = s.space(i); i >= len(b) {
			return short
		}
		switch b[i] {
		case ',':
			i++
		case ']':
			return i + 1
		default:
			return s.fail(i, "expected a comma or the end of the array")
		}
	}
}

// name is a key without its quotes. ok is false when it holds an escape: then the text is not the key.
func (s *scanner) name(k span) (name []byte, ok bool) {
	name = s.b[k.lo+1 : k.hi-1]
	for _, c := range name {
		if c == '\\' {
			return name, false
		}
	}
	return name, true
}
