package status

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmgate/olmgate/resolver"
)

// Types of the conditions that are always written. docs/status.md describes them.
const (
	// TypeResolved: True when the extension resolves, False when it certainly does not, Unknown when undecided.
	TypeResolved = "olmgate.dev/Resolved"
	// TypeUpdateAvailable: True when something newer than what is installed exists, within the constraints or beyond.
	TypeUpdateAvailable = "olmgate.dev/UpdateAvailable"
	// TypeDeprecated: True when the package, a channel, or the chosen or installed bundle is deprecated in the selected
	// catalog.
	TypeDeprecated = "olmgate.dev/Deprecated"
)

// Reasons of TypeDeprecated beside those of notes and verdicts.
const (
	InstalledBundleDeprecated resolver.Reason = "InstalledBundleDeprecated"
	NotDeprecated             resolver.Reason = "NotDeprecated"
)

// maxMessage bounds a condition's message as the API does, in characters.
const maxMessage = 32768

// Conditions are what a verdict of resolver.Outlook says, by type, without times.
func Conditions(v *resolver.Verdict, generation int64) []metav1.Condition {
	list := []metav1.Condition{deprecatedCondition(v), resolvedCondition(v), updateCondition(v)}
	for i := range list {
		list[i].ObservedGeneration = generation
		list[i].Message = cut(list[i].Message)
	}
	return list
}

func resolvedCondition(v *resolver.Verdict) metav1.Condition {
	c := metav1.Condition{Type: TypeResolved, Reason: string(v.Reason), Message: v.Message}
	switch v.Outcome {
	case resolver.OutcomeResolved:
		c.Status = metav1.ConditionTrue
		c.Message = fmt.Sprintf("%s: version %s", v.Message, v.Bundle.Version)
		if v.Bundle.Release != "" {
			c.Message += ", release " + v.Bundle.Release
		}
	case resolver.OutcomeFailed:
		c.Status = metav1.ConditionFalse
	default:
		c.Status = metav1.ConditionUnknown
	}
	lines := []string{c.Message}
	// A suggestion of a resolved verdict repeats a note.
	if v.Outcome != resolver.OutcomeResolved {
		for _, s := range v.Suggestions {
			lines = append(lines, s.Message)
		}
	}
	for _, reason := range resolver.Notes() {
		for _, n := range v.Notes {
			if n.Reason == reason && !inOtherCondition(reason) {
				lines = append(lines, string(n.Reason)+": "+n.Message)
			}
		}
	}
	c.Message = strings.Join(lines, "\n")
	return c
}

// inOtherCondition reports whether TypeDeprecated says what a note says.
func inOtherCondition(r resolver.Reason) bool {
	return r == resolver.PackageDeprecated || r == resolver.ChannelDeprecated || r == resolver.BundleDeprecated
}

func updateCondition(v *resolver.Verdict) metav1.Condition {
	u := v.Update
	return metav1.Condition{Type: TypeUpdateAvailable, Status: metav1.ConditionStatus(u.Available), Reason: string(u.Reason), Message: u.Message}
}

// scopes are the scopes of deprecations with the reason that each gives, what concerns the user most first.
var scopes = []struct {
	scope  resolver.Scope
	reason resolver.Reason
	what   string
}{
	{resolver.ScopeInstalledBundle, InstalledBundleDeprecated, "the installed bundle"},
	{resolver.ScopeBundle, resolver.BundleDeprecated, "bundle"},
	{resolver.ScopeChannel, resolver.ChannelDeprecated, "channel"},
	{resolver.ScopePackage, resolver.PackageDeprecated, "package"},
}

func deprecatedCondition(v *resolver.Verdict) metav1.Condition {
	c := metav1.Condition{Type: TypeDeprecated}
	switch {
	case v.Catalog == "":
		c.Status, c.Reason = metav1.ConditionUnknown, string(v.Reason)
		c.Message = "no catalog is selected whose deprecations would count"
	case len(v.Deprecations) == 0:
		c.Status, c.Reason = metav1.ConditionFalse, string(NotDeprecated)
		c.Message = fmt.Sprintf("nothing of package %q that concerns this extension is deprecated in catalog %s", v.Package, v.Catalog)
	default:
		c.Status = metav1.ConditionTrue
		reason, lines := deprecations(v, func(resolver.Scope) bool { return true })
		c.Reason, c.Message = string(reason), strings.Join(lines, "\n")
	}
	return c
}

// deprecations are those of some scopes, a line each, and the reason of the first.
func deprecations(v *resolver.Verdict, which func(resolver.Scope) bool) (first resolver.Reason, lines []string) {
	for _, s := range scopes {
		if !which(s.scope) {
			continue
		}
		for _, d := range v.Deprecations {
			if d.Scope != s.scope {
				continue
			}
			if first == "" {
				first = s.reason
			}
			line := fmt.Sprintf("%s %s is deprecated in catalog %s", s.what, d.Name, v.Catalog)
			if d.Message != "" {
				line += ": " + oneLine(d.Message)
			}
			lines = append(lines, line)
		}
	}
	return first, lines
}

// oneLine takes line breaks and control characters out of a catalog's text.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// cut bounds a message; what comes first stays.
func cut(s string) string {
	const end = "..."
	if utf8.RuneCountInString(s) <= maxMessage {
		return s
	}
	return string([]rune(s)[:maxMessage-len(end)]) + end
}

// byType finds a condition, nil when it is not there.
func byType(list []metav1.Condition, name string) *metav1.Condition {
	if i := slices.IndexFunc(list, func(c metav1.Condition) bool { return c.Type == name }); i >= 0 {
		return &list[i]
	}
	return nil
}
