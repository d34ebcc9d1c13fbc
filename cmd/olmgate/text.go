package main

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// printable replaces what a terminal would take as a command, and what changes the look of the text around it, such as
// marks that turn the direction of writing: text comes from files and catalogs.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
}

// oneLine is printable text without line breaks, for names, which could pretend to be other lines of the output.
func oneLine(s string) string { return strings.ReplaceAll(printable(s), "\n", " ") }

// screen writes text for people: coloured and wrapped to the width when the writer is a terminal, plain otherwise.
type screen struct {
	w      io.Writer
	colour bool
	width  int
	err    error
}

func newScreen(w io.Writer) *screen {
	s := &screen{w: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width >= 40 {
			s.width = width
		}
	}
	return s
}

// Colours by number of the ANSI escape.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (s *screen) paint(colour, text string) string {
	if !s.colour || colour == "" || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// line writes one line that is not wrapped. Its parts are printable.
func (s *screen) line(parts ...string) {
	s.write(strings.TrimRight(strings.Join(parts, ""), " ") + "\n")
}

// para writes text behind a label, wrapped below its beginning.
func (s *screen) para(indent int, label, colour, text string) {
	first := strings.Repeat(" ", indent) + s.paint(colour, label)
	rest := strings.Repeat(" ", indent+utf8.RuneCountInString(label))
	for _, line := range strings.Split(strings.TrimSpace(printable(text)), "\n") {
		for _, l := range wrap(line, s.width-len(rest)) {
			s.line(first, l)
			first = rest
		}
	}
}

func (s *screen) write(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.w, text)
	}
}

// wrap breaks text at spaces into lines of at most width runes; a width below 20 does not break.
func wrap(text string, width int) []string {
	if width < 20 {
		return []string{text}
	}
	var lines []string
	var now string
	for _, word := range strings.Fields(text) {
		if now != "" && utf8.RuneCountInString(now)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, now)
			now = ""
		}
		if now != "" {
			now += " "
		}
		now += word
	}
	return append(lines, now)
}

// table writes rows in columns, two spaces apart. The first row is the heading.
func (s *screen) table(indent int, rows [][]string) {
	var g grid
	for _, row := range rows {
		g.fit(row)
	}
	for n, row := range rows {
		colour := ""
		if n == 0 {
			colour = dim
		}
		s.write(s.paint(colour, strings.Repeat(" ", indent)+g.line(row)) + "\n")
	}
}

// grid keeps rows in columns, also those that come later.
type grid struct{ widths []int }

// fit makes the columns wide enough for a row.
func (g *grid) fit(row []string) {
	for i, cell := range row {
		if i >= len(g.widths) {
			g.widths = append(g.widths, 0)
		}
		g.widths[i] = max(g.widths[i], utf8.RuneCountInString(oneLine(cell)))
	}
}

// line is a row that fits, its cells in their columns.
func (g *grid) line(row []string) string {
	var line strings.Builder
	for i, cell := range row {
		cell = oneLine(cell)
		line.WriteString(cell)
		if i < len(row)-1 {
			line.WriteString(strings.Repeat(" ", g.widths[i]-utf8.RuneCountInString(cell)+2))
		}
	}
	return strings.TrimRight(line.String(), " ")
}
