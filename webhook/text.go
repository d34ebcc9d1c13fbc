package webhook

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ellipsis marks where a text was cut.
const ellipsis = "…"

// clean makes one line of a text that may come from a hostile catalog. Control characters, line and paragraph
// separators, invalid UTF-8 and the marks that change the direction of writing become a single space; a run of them,
// with the spaces around it, becomes one. The API server drops a warning that holds a control character without a
// word, and a terminal would obey them.
func clean(s string) string {
	if !needsCleaning(s) {
		return soften(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	spaces, gap := 0, false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case unprintable(r, size):
			gap = true
			continue
		case r == ' ':
			spaces++
			continue
		case gap && b.Len() > 0:
			b.WriteByte(' ')
		case !gap:
			b.WriteString(strings.Repeat(" ", spaces))
		}
		spaces, gap = 0, false
		b.WriteRune(r)
	}
	return soften(b.String())
}

func needsCleaning(s string) bool {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unprintable(r, size) {
			return true
		}
		i += size
	}
	return false
}

func unprintable(r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size <= 1:
		return true
	case r < utf8.RuneSelf:
		return r < 0x20 || r == 0x7f
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.In(r, unicode.Zl, unicode.Zp)
}

// recreates are the texts by which Flux recognises an error that deleting and creating the object anew would solve,
// which uninstalls the operator. Catalogs can hold them.
var recreates = regexp.MustCompile(`(?i)is immutable|immutable field`)

// soften rewrites the texts that make GitOps tools delete and re-create an object, so that they no longer match and
// still read the same.
func soften(s string) string {
	if !mutable(s) || !recreates.MatchString(s) {
		return s
	}
	for recreates.MatchString(s) {
		s = recreates.ReplaceAllStringFunc(s, func(m string) string { return strings.Replace(m, " ", "-", 1) })
	}
	return s
}

// mutable reports whether a text holds "mutable" in any case: a quick look before a slow one.
func mutable(s string) bool {
	const word = "mutable"
	for i := 0; i+len(word) <= len(s); i++ {
		if s[i]|0x20 == 'm' && strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// cut shortens a text to at most limit characters, at the end of a character, and marks that it did.
func cut(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	return strings.TrimRight(string(runes[:limit-1]), " ") + ellipsis
}

// split breaks a text into pieces of at most limit characters, between words where it can. The last piece is cut when
// there would be more than pieces of them.
func split(s string, limit, pieces int) []string {
	var out []string
	for len(out) < pieces-1 && utf8.RuneCountInString(s) > limit {
		runes := []rune(s)
		at := limit
		for at > limit*2/3 && runes[at] != ' ' {
			at--
		}
		if runes[at] != ' ' {
			at = limit
		}
		out = append(out, strings.TrimRight(string(runes[:at]), " "))
		s = strings.TrimLeft(string(runes[at:]), " ")
	}
	return append(out, cut(s, limit))
}
