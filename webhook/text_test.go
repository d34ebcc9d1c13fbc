package webhook

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestHostileTextBecomesOneHarmlessLine(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"plain text stays":                      {"use stable, not  alpha: 日本語 ✓", "use stable, not  alpha: 日本語 ✓"},
		"a line break becomes a space":          {"a\nb", "a b"},
		"a run of breaks becomes one space":     {"a\r\n\t\x00b", "a b"},
		"spaces around a break go with it":      {"a \n b", "a b"},
		"breaks at the ends go":                 {"\na\n", "a"},
		"invalid UTF-8 becomes a space":         {"a\xff\xfeb", "a b"},
		"a terminal's escape sequence":          {"\x1b[31mred\x1b[0m", "[31mred [0m"},
		"C1 controls and line separators":       {"a\u0085b\u2028c\u2029d", "a b c d"},
		"the direction of writing stays":        {"a\u202eb\u2066c", "a b c"},
		"a replacement character is text":       {"a\ufffdb", "a\ufffdb"},
		"nothing but breaks":                    {"\n\n", ""},
		"what Flux matches":                     {"the field is immutable", "the field is-immutable"},
		"what Flux matches, over a break":       {"this is\nimmutable", "this is-immutable"},
		"what Flux matches, in capitals":        {"Immutable Field", "Immutable-Field"},
		"both of what Flux matches, overlapped": {"it is immutable field", "it is-immutable-field"},
		"immutable in another sense":            {"immutable and field", "immutable and field"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := clean(tc.in); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestCleanTextIsClean(t *testing.T) {
	part := rapid.SampledFrom([]string{"is", "immutable", "field", " ", "\n", "\xff", "é", "x", "IS", "\u202e"})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "")
		got := clean(in)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) || recreates.MatchString(got) {
			t.Errorf("%q becomes %q", in, got)
		}
		if again := clean(got); again != got {
			t.Errorf("%q becomes %q becomes %q", in, got, again)
		}
	})
}

func TestCutsAreAtTheEndOfACharacter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, limit := rapid.String().Draw(t, "s"), rapid.IntRange(1, 20).Draw(t, "limit")
		got := cut(s, limit)
		if utf8.RuneCountInString(got) > limit || utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
		if utf8.RuneCountInString(s) <= limit && got != s {
			t.Errorf("%q was cut to %q without need", s, got)
		}
	})
}

func TestALongTextIsSplitBetweenWords(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want []string
	}{
		"short":                      {"one two", []string{"one two"}},
		"exactly as long":            {"0123456789", []string{"0123456789"}},
		"two lines":                  {"one two three", []string{"one two", "three"}},
		"a break right at the limit": {"0123456789 b", []string{"0123456789", "b"}},
		"a word that is too long":    {"0123456789abc", []string{"0123456789", "abc"}},
		"more than there is room":    {"aaaaaaaaaa bbbbbbbbbb cccccccccc dddddddddd", []string{"aaaaaaaaaa", "bbbbbbbbbb", "ccccccccc…"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := split(tc.in, 10, 3); strings.Join(got, "|") != strings.Join(tc.want, "|") {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
