package cluster

import "testing"

func TestLastLines(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		lines   int
		want    string
	}{
		"fewer than asked for":         {"a\nb\n", 5, "a\nb"},
		"exactly as many":              {"a\nb\n", 2, "a\nb"},
		"more than asked for":          {"a\nb\nc\n", 2, "b\nc"},
		"no newline at the end":        {"a\nb", 1, "b"},
		"nothing at all":               {"", 3, ""},
		"empty lines inside the count": {"a\n\nb\n", 2, "\nb"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(lastLines([]byte(test.content), test.lines)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
