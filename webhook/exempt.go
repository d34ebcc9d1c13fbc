package webhook

import (
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// BypassAnnotation on a ClusterExtension turns a denial into a warning. Its value says why and must not be blank.
const BypassAnnotation = "olmgate.dev/bypass"

// DefaultBreakGlassGroup is the group whose members are never judged.
const DefaultBreakGlassGroup = "olmgate:break-glass"

// Exemptions are users and groups that are never judged. Names are compared as they are.
type Exemptions struct {
	Users  []string
	Groups []string
}

// BreakGlass says which deliberate acts get past a denial.
type BreakGlass struct {
	// Group whose members are never judged, "" for none. The manifest's matchConditions already keep their requests
	// away; the handler looks again in case they do not.
	Group string
	// Annotation is whether BypassAnnotation works.
	Annotation bool
}

// bypass says by what a request is exempt from judgement, "" when it is not: the label of the bypass metric and of the
// audit annotation.
func bypass(user authenticationv1.UserInfo, glass BreakGlass, exempt Exemptions) string {
	switch {
	case glass.Group != "" && slices.Contains(user.Groups, glass.Group):
		return bypassBreakGlass
	case slices.Contains(exempt.Users, user.Username):
		return bypassUser
	case slices.ContainsFunc(exempt.Groups, func(g string) bool { return slices.Contains(user.Groups, g) }):
		return bypassGroup
	}
	return ""
}

// Ways past a denial.
const (
	bypassBreakGlass = "break-glass"
	bypassUser       = "user"
	bypassGroup      = "group"
	bypassAnnotation = "annotation"
)

// spareByAnnotation is why the annotations of an object spare it a denial, "" when they do not.
func (g BreakGlass) spareByAnnotation(annotations map[string]string) (why string) {
	if !g.Annotation {
		return ""
	}
	return strings.TrimSpace(clean(annotations[BypassAnnotation]))
}
