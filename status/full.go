package status

import (
	"fmt"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmgate/olmgate/resolver"
)

// Profile is which conditions are written.
type Profile string

const (
	// ProfileOwn writes olmgate's own types, which nobody else writes.
	ProfileOwn Profile = "own"
	// ProfileFull also writes the plain types, unless another field manager has a type on that object.
	ProfileFull Profile = "full"
)

// ParseProfile reads the name of a profile.
func ParseProfile(s string) (Profile, error) {
	switch p := Profile(s); p {
	case ProfileOwn, ProfileFull:
		return p, nil
	}
	return "", fmt.Errorf("unknown conditions %q: they are own or full", s)
}

// Plain types, which operator-controller has defined.
const (
	typeProgressing       = ocv1.TypeProgressing
	typePlainDeprecated   = "Deprecated"
	typePackageDeprecated = "PackageDeprecated"
	typeChannelDeprecated = "ChannelDeprecated"
	typeBundleDeprecated  = "BundleDeprecated"
)

var plainTypes = []string{typeProgressing, typePlainDeprecated, typePackageDeprecated, typeChannelDeprecated, typeBundleDeprecated}

// plainConditions are the plain types with the meaning and the reasons that operator-controller's API gives them.
// Progressing is there only when resolution fails or is undecided: how an installation goes on is not olmgate's to say.
func plainConditions(v *resolver.Verdict, generation int64) []metav1.Condition {
	list := []metav1.Condition{
		plainDeprecation(v, typeBundleDeprecated, "bundle", resolver.ScopeInstalledBundle),
		plainDeprecation(v, typeChannelDeprecated, "channel", resolver.ScopeChannel),
		plainDeprecation(v, typePlainDeprecated, "", resolver.ScopeInstalledBundle, resolver.ScopeChannel, resolver.ScopePackage),
		plainDeprecation(v, typePackageDeprecated, "package", resolver.ScopePackage),
	}
	if v.Outcome != resolver.OutcomeResolved {
		c := resolvedCondition(v)
		list = append(list, metav1.Condition{
			Type: typeProgressing, Status: metav1.ConditionTrue, Reason: ocv1.ReasonRetrying, Message: c.Reason + ": " + c.Message,
		})
	}
	for i := range list {
		list[i].ObservedGeneration = generation
		list[i].Message = cut(list[i].Message)
	}
	return list
}

// plainDeprecation is one plain deprecation type: about these scopes.
func plainDeprecation(v *resolver.Verdict, name, what string, about ...resolver.Scope) metav1.Condition {
	c := metav1.Condition{Type: name}
	if v.Catalog == "" {
		c.Status, c.Reason = metav1.ConditionUnknown, ocv1.ReasonDeprecationStatusUnknown
		c.Message = "no catalog is selected whose deprecations would count: " + string(v.Reason)
		return c
	}
	if name == typeBundleDeprecated && v.Update.Installed == nil {
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, ocv1.ReasonAbsent, "no bundle is installed"
		return c
	}
	_, lines := deprecations(v, func(s resolver.Scope) bool {
		for _, a := range about {
			if a == s {
				return true
			}
		}
		return false
	})
	if len(lines) == 0 {
		c.Status, c.Reason = metav1.ConditionFalse, ocv1.ReasonNotDeprecated
		c.Message = strings.TrimSpace(what + " not deprecated")
		return c
	}
	c.Status, c.Reason, c.Message = metav1.ConditionTrue, ocv1.ReasonDeprecated, strings.Join(lines, "\n")
	return c
}
