package resolver

import (
	"regexp"
	"strconv"
	"strings"

	mm "github.com/Masterminds/semver/v3"
	"github.com/blang/semver/v4"
)

// inRange reports whether a bundle's version is in a range. Build metadata takes no part.
func inRange(c *mm.Constraints, v *semver.Version) bool {
	return c.Check(mm.New(v.Major, v.Minor, v.Patch, prerelease(v), ""))
}

// prerelease is the dotted prerelease of a version, "" when it has none.
func prerelease(v *semver.Version) string {
	switch len(v.Pre) {
	case 0:
		return ""
	case 1:
		return v.Pre[0].String()
	}
	parts := make([]string, len(v.Pre))
	for i, p := range v.Pre {
		parts[i] = p.String()
	}
	return strings.Join(parts, ".")
}

// operand matches one version in a range, wildcards included.
var operand = regexp.MustCompile(`v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?`)

// bounds are the versions that a range names, with zeros for what is left out or a wildcard.
func bounds(text string) []*mm.Version {
	var list []*mm.Version
	for _, m := range operand.FindAllStringSubmatch(text, -1) {
		num := func(s string) uint64 {
			n, _ := strconv.ParseUint(s, 10, 64)
			return n
		}
		list = append(list, mm.New(num(m[1]), num(m[2]), num(m[3]), m[4], ""))
	}
	return list
}

// satisfiable reports whether any version at all can be in the range. Every range is a union of intervals that begin
// at or just behind a version it names, or at the very lowest version; so it is enough to try those.
func satisfiable(c *mm.Constraints, text string) bool {
	try := func(major, minor, patch uint64, pre string) bool {
		return c.Check(mm.New(major, minor, patch, pre, ""))
	}
	if try(0, 0, 0, "0") || try(0, 0, 0, "") {
		return true
	}
	for _, v := range bounds(text) {
		a, b, p, pre := v.Major(), v.Minor(), v.Patch(), v.Prerelease()
		if try(a, b, p, pre) || try(a, b, p, "") || try(a, b, p, "0") ||
			pre != "" && try(a, b, p, pre+".0") ||
			try(a, b, p+1, "") || try(a, b, p+1, "0") ||
			try(a, b+1, 0, "") || try(a, b+1, 0, "0") ||
			try(a+1, 0, 0, "") || try(a+1, 0, 0, "0") {
			return true
		}
	}
	return false
}

// admitting is a range like text that also admits the prerelease v, "" when no simple change does.
func admitting(text string, v *semver.Version) string {
	const most = 64 // the field's limit
	loc := operand.FindStringSubmatchIndex(text)
	if loc == nil {
		return ""
	}
	op := strings.TrimSpace(text[:loc[0]])
	candidates := []string{text[:loc[1]] + "-0" + text[loc[1]:]}
	if m := operand.FindStringSubmatch(text); op == "" && m[0] == strings.TrimSpace(text) {
		// A version of two parts or a wildcard: write it as bounds.
		if b := bounds(text)[0]; m[3] == "" || m[3] == "x" || m[3] == "X" || m[3] == "*" {
			lower := b.String()
			switch {
			case m[1] == "x" || m[1] == "X" || m[1] == "*":
				candidates = append(candidates, ">=0.0.0-0")
			case m[2] == "" || m[2] == "x" || m[2] == "X" || m[2] == "*":
				candidates = append(candidates, ">="+lower+"-0 <"+strconv.FormatUint(b.Major()+1, 10)+".0.0-0")
			default:
				candidates = append(candidates, ">="+lower+"-0 <"+strconv.FormatUint(b.Major(), 10)+"."+strconv.FormatUint(b.Minor()+1, 10)+".0-0")
			}
		}
	}
	for _, s := range candidates {
		if c, err := mm.NewConstraint(s); err == nil && len(s) <= most && inRange(c, v) {
			return s
		}
	}
	return ""
}
