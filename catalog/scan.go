package catalog

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// maxDepth is how deep objects and arrays may nest; encoding/json has the same limit.
const maxDepth = 10_000

// Results of scanner methods that are no position.
const (
	short  = -1 // the buffer ends inside the value
	faulty = -2 // the text is not JSON; see scanner.fault
)

// scanner checks JSON text in a buffer without building anything. Its methods take the position of the first byte of
// what they skip and return the position behind it, or short, or faulty. It accepts exactly what encoding/json does:
// invalid UTF-8 in strings too, and no number that a float64 cannot hold.
//
// It reads eight bytes at a time inside strings, which are most of a catalog: this is what makes indexing fast.
type scanner struct {
	b       []byte
	stack   []byte // open containers, '{' or '['
	faultAt int
	fault   string
}

func (s *scanner) fail(at int, why string) int {
	s.faultAt, s.fault = at, why
	return faulty
}

// space returns the position of the next byte that is no white space, len(b) when there is none.
func (s *scanner) space(i int) int {
	for i < len(s.b) && s.b[i] <= ' ' {
		switch s.b[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks, in the high bit of each byte of w, the bytes that end a run of plain string text: quotes,
// backslashes and control characters. Only the lowest mark is exact.
func special(w uint64) uint64 {
	q := w ^ (ones * '"')
	e := w ^ (ones * '\\')
	return ((q-ones)&^q | (e-ones)&^e | (w-ones*0x20)&^w) & highs
}

// str skips a string; b[i] is its opening quote.
func (s *scanner) str(i int) int {
	b := s.b
	i++
	for {
		for i+16 <= len(b) {
			if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				goto found
			}
			if m := special(binary.LittleEndian.Uint64(b[i+8:])); m != 0 {
				i += 8 + bits.TrailingZeros64(m)>>3
				goto found
			}
			i += 16
		}
		for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
			i++
		}
		if i >= len(b) {
			return short
		}
	found:
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			if i+1 < len(b) && simpleEscape[b[i+1]] {
				i += 2
				continue
			}
			if i = s.escape(i); i < 0 {
				return i
			}
		default:
			return s.fail(i, "control character in a string")
		}
	}
}

// simpleEscape are the bytes that make an escape of two with a backslash before them.
var simpleEscape = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// escape skips one escape sequence; b[i] is its backslash.
func (s *scanner) escape(i int) int {
	b := s.b
	if i+1 >= len(b) {
		return short
	}
	if b[i+1] == 'u' {
		for j := i + 2; j < i+6; j++ {
			if j >= len(b) {
				return short
			}
			if !hexDigit(b[j]) {
				return s.fail(j, "invalid \\u escape in a string")
			}
		}
		return i + 6
	}
	return s.fail(i+1, "invalid escape in a string")
}

func hexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// number skips a number; b[i] is its first byte.
func (s *scanner) number(i int) int {
	b, start := s.b, i
	digits := func() bool {
		from := i
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if b[i] == '-' {
		i++
	}
	switch {
	case i >= len(b):
		return short
	case b[i] == '0':
		i++
	case !digits():
		return s.fail(i, "invalid number")
	}
	float := false
	if i < len(b) && b[i] == '.' {
		i++
		if i < len(b) && !digits() {
			return s.fail(i, "invalid number")
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		float = true
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if i < len(b) && !digits() {
			return s.fail(i, "invalid number")
		}
	}
	if i >= len(b) {
		return short
	}
	if float || i-start > 300 {
		if _, err := strconv.ParseFloat(string(b[start:i]), 64); err != nil {
			return s.fail(start, "number out of range")
		}
	}
	return i
}

// literal skips true, false or null.
func (s *scanner) literal(i int, word string) int {
	for j := range len(word) {
		if i+j >= len(s.b) {
			return short
		}
		if s.b[i+j] != word[j] {
			return s.fail(i+j, "invalid literal")
		}
	}
	return i + len(word)
}

// value skips any value, white space before it included. depth is how many containers are open around it.
func (s *scanner) value(i, depth int) int {
	b := s.b
	stack := s.stack[:0]
	for {
		// A value is expected.
		if i = s.space(i); i >= len(b) {
			return short
		}
		switch c := b[i]; c {
		case '"':
			i = s.str(i)
		case '{', '[':
			if depth+len(stack) >= maxDepth {
				return s.fail(i, "nested too deep")
			}
			stack = append(stack, c)
			s.stack = stack
			if i = s.space(i + 1); i >= len(b) {
				return short
			}
			if b[i] == c+2 { // '}' is '{'+2, ']' is '['+2
				stack = stack[:len(stack)-1]
				i++
				break
			}
			if c == '{' {
				i = s.key(i)
				if i < 0 {
					return i
				}
			}
			continue
		case 't':
			i = s.literal(i, "true")
		case 'f':
			i = s.literal(i, "false")
		case 'n':
			i = s.literal(i, "null")
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			i = s.number(i)
		default:
			return s.fail(i, "expected a value")
		}
		if i < 0 {
			return i
		}
		// A value has ended: close containers until another one is due.
		for {
			if len(stack) == 0 {
				return i
			}
			if i = s.space(i); i >= len(b) {
				return short
			}
			open := stack[len(stack)-1]
			if b[i] == open+2 {
				stack = stack[:len(stack)-1]
				i++
				continue
			}
			if b[i] != ',' {
				return s.fail(i, "expected a comma or the end of the object or array")
			}
			i++
			if open == '{' {
				if i = s.key(i); i < 0 {
					return i
				}
			}
			break
		}
	}
}

// key skips white space, a key and the colon behind it.
func (s *scanner) key(i int) int {
	if i = s.space(i); i >= len(s.b) {
		return short
	}
	if s.b[i] != '"' {
		return s.fail(i, "expected a key")
	}
	if i = s.str(i); i < 0 {
		return i
	}
	return s.colon(i)
}

func (s *scanner) colon(i int) int {
	if i = s.space(i); i >= len(s.b) {
		return short
	}
	if s.b[i] != ':' {
		return s.fail(i, "expected a colon")
	}
	return i + 1
}
