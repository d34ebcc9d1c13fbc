package resolver

import (
	"fmt"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/olmgate/olmgate/catalog"
)

// Rule is how a catalog is selected among several.
type Rule string

const (
	// RulePackage selects a catalog by where the package is: the highest priority at which exactly one catalog
	// contains it.
	RulePackage Rule = "Package"
	// RuleBundle selects as operator-controller 1.0 to 1.11 does: by the best qualifying bundle of each catalog.
	RuleBundle Rule = "Bundle"
)

// ParseRule reads the name of a rule.
func ParseRule(s string) (Rule, error) {
	switch r := Rule(s); r {
	case RulePackage, RuleBundle:
		return r, nil
	}
	return "", fmt.Errorf("unknown selection rule %q: it is Package or Bundle", s)
}

// Catalog is one ClusterCatalog with what is at hand of its content.
type Catalog struct {
	Name     string
	Labels   map[string]string
	Priority int32
	// Unavailable is availabilityMode Unavailable.
	Unavailable bool
	// Deleting is a set deletionTimestamp.
	Deleting bool
	// Serving is condition Serving being True.
	Serving bool
	Content catalog.Content
}

// NewCatalog describes a ClusterCatalog of a cluster. Without a Serving condition it does not serve.
func NewCatalog(cc *ocv1.ClusterCatalog, content catalog.Content) Catalog {
	return Catalog{
		Name:        cc.Name,
		Labels:      cc.Labels,
		Priority:    cc.Spec.Priority,
		Unavailable: cc.Spec.AvailabilityMode == ocv1.AvailabilityModeUnavailable,
		Deleting:    cc.DeletionTimestamp != nil,
		Serving:     meta.IsStatusConditionTrue(cc.Status.Conditions, ocv1.TypeServing),
		Content:     content,
	}
}

// NewOfflineCatalog describes a ClusterCatalog manifest. Without a Serving condition it counts as serving.
func NewOfflineCatalog(cc *ocv1.ClusterCatalog, content catalog.Content) Catalog {
	c := NewCatalog(cc, content)
	if meta.FindStatusCondition(cc.Status.Conditions, ocv1.TypeServing) == nil {
		c.Serving = true
	}
	return c
}

// Judges reports whether olmgate has an answer for the extension: a source type other than Catalog is not its to
// judge.
func Judges(ext *ocv1.ClusterExtension) bool {
	t := ext.Spec.Source.SourceType
	return t == "" || t == ocv1.SourceTypeCatalog
}
