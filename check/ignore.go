package check

import (
	"bufio"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// maxIgnore bounds a .gitignore, in bytes.
const maxIgnore = 1 << 20

// ignoreRule is a line of a .gitignore.
type ignoreRule struct {
	// dir is where the file lies, relative to the top; "" there.
	dir     string
	pattern *regexp.Regexp
	// again takes back what an earlier rule ignores.
	again   bool
	dirOnly bool
}

// ignoreRules are the rules of all files from the top down. The last that matches counts.
type ignoreRules []ignoreRule

// ignores reports whether git would leave a path out. Those above it are known not to be left out.
func (rules ignoreRules) ignores(rel string, dir bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		r := &rules[i]
		below := rel
		if r.dir != "" {
			var inside bool
			if below, inside = strings.CutPrefix(rel, r.dir+"/"); !inside {
				continue
			}
		}
		if (dir || !r.dirOnly) && r.pattern.MatchString(below) {
			return !r.again
		}
	}
	return false
}

// readIgnore reads the rules of one file, which lies in dir.
func readIgnore(in io.Reader, dir string) ignoreRules {
	var rules ignoreRules
	lines := bufio.NewScanner(io.LimitReader(in, maxIgnore))
	for lines.Scan() {
		if r, ok := parseIgnore(lines.Text()); ok {
			r.dir = dir
			rules = append(rules, r)
		}
	}
	return rules
}

// parseIgnore reads a line; false when it says nothing.
func parseIgnore(line string) (r ignoreRule, ok bool) {
	line = strings.TrimSuffix(line, "\r")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = strings.TrimSuffix(line, " ")
	}
	if line == "" || line[0] == '#' {
		return r, false
	}
	line, r.again = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	anchored := strings.Contains(line, "/")
	expr, ok := globExpr(strings.TrimPrefix(line, "/"))
	if !ok || expr == "" {
		return r, false
	}
	if !anchored {
		expr = "(?:.*/)?" + expr
	}
	var err error
	r.pattern, err = regexp.Compile("^" + expr + "$")
	return r, err == nil
}

// globExpr is a glob as a regular expression: * and ? stay within a name, ** goes over directories.
func globExpr(glob string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(glob); {
		rest := glob[i:]
		atStart := i == 0 || glob[i-1] == '/'
		switch {
		case atStart && strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			i += 3
		case atStart && rest == "**":
			b.WriteString(".+")
			i += 2
		case rest[0] == '*':
			b.WriteString("[^/]*")
			for i < len(glob) && glob[i] == '*' {
				i++
			}
		case rest[0] == '?':
			b.WriteString("[^/]")
			i++
		case rest[0] == '[':
			class, n := classExpr(rest)
			if n == 0 {
				return "", false
			}
			b.WriteString(class)
			i += n
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			i += 2
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
			i++
		}
	}
	return b.String(), true
}

// classExpr is a class such as [a-z], and how long it is; 0 when it does not end.
func classExpr(glob string) (string, int) {
	i := 1
	var b strings.Builder
	b.WriteByte('[')
	if i < len(glob) && (glob[i] == '!' || glob[i] == '^') {
		b.WriteString("^/")
		i++
	}
	for first := true; i < len(glob); first = false {
		switch c := glob[i]; {
		case c == ']' && !first:
			b.WriteByte(']')
			return b.String(), i + 1
		case c == '[' && strings.HasPrefix(glob[i:], "[:"):
			end := strings.Index(glob[i:], ":]")
			if end < 0 {
				return "", 0
			}
			b.WriteString(glob[i : i+end+2])
			i += end + 2
			continue
		case c == '\\' && i+1 < len(glob):
			b.WriteString(`\` + glob[i+1:i+2])
			i += 2
			continue
		case c == '[' || c == ']' || c == '^':
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
		i++
	}
	return "", 0
}

// excludes are the globs of --exclude: as in a .gitignore at the top, without taking back.
type excludes []ignoreRule

func parseExcludes(globs []string) excludes {
	var list excludes
	for _, g := range globs {
		if r, ok := parseIgnore(filepath.ToSlash(strings.TrimPrefix(g, "./"))); ok && !r.again {
			list = append(list, r)
		}
	}
	return list
}

// match reports whether a path, or a directory above it, is excluded.
func (e excludes) match(name string, dir bool) bool {
	name = strings.TrimPrefix(path.Clean(filepath.ToSlash(name)), "/")
	for at := name; at != "." && at != "/" && at != ""; at = path.Dir(at) {
		for i := range e {
			if (dir || at != name || !e[i].dirOnly) && e[i].pattern.MatchString(at) {
				return true
			}
		}
	}
	return false
}
