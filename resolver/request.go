package resolver

import (
	"fmt"

	mm "github.com/Masterminds/semver/v3"
	"github.com/blang/semver/v4"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/olmgate/olmgate/catalog"
)

// Paths of the fields that a verdict can blame.
const (
	fieldSource    = "spec.source.catalog"
	fieldPackage   = "spec.source.catalog.packageName"
	fieldSelector  = "spec.source.catalog.selector"
	fieldVersion   = "spec.source.catalog.version"
	fieldChannels  = "spec.source.catalog.channels"
	fieldChannel0  = "spec.source.catalog.channels[0]"
	fieldPolicy    = "spec.source.catalog.upgradeConstraintPolicy"
	fieldInstalled = "status.install.bundle.version"
	fieldStatus    = "status.install"
)

// request is what an extension asks for, parsed.
type request struct {
	pkg           string
	channels      []string
	version       string
	inRange       *mm.Constraints // nil: every version
	selector      labels.Selector
	selective     bool // the selector leaves anything out at all
	selfCertified bool

	// installed is nil when nothing is, or when unknown.
	installed *installedBundle
	// unknownState is true when it is not known what is installed.
	unknownState bool
}

// installedBundle is status.install.bundle.
type installedBundle struct {
	name string
	text string // the version as the status has it
	// parsed is false when version and release cannot be read, which only SelfCertified tolerates.
	parsed      bool
	version     semver.Version
	release     catalog.Release
	withRelease bool // the status has a release of its own
}

// constrained reports whether upgrade edges limit the choice.
func (r *request) constrained() bool { return r.installed != nil && !r.selfCertified }

// fault is a reason why an extension cannot be read.
type fault struct {
	reason  Reason
	field   string
	message string
	suggest []Suggestion
}

// parse reads what must be there before any catalog is looked at.
func parse(ext *ocv1.ClusterExtension) (*request, *fault) {
	src := ext.Spec.Source.Catalog
	if src == nil || src.PackageName == "" {
		what := "spec.source.catalog.packageName is empty"
		if src == nil {
			what = "the extension has no spec.source.catalog"
		}
		return nil, &fault{MissingCatalogSource, fieldSource,
			what + ", so it does not say which package to install. Set spec.source.sourceType: Catalog and spec.source.catalog.packageName.", nil}
	}
	r := &request{
		pkg:           src.PackageName,
		channels:      src.Channels,
		version:       src.Version,
		selfCertified: src.UpgradeConstraintPolicy == ocv1.UpgradeConstraintPolicySelfCertified,
	}
	if f := r.parseSelector(src.Selector); f != nil {
		return nil, f
	}
	if r.version != "" {
		c, err := mm.NewConstraint(r.version)
		if err != nil {
			return nil, &fault{InvalidVersionRange, fieldVersion,
				fmt.Sprintf("%s %q cannot be read as a version range. Ranges look like 1.2.3, >=1.2.0 <2.0.0, ~1.2, ^1.2.0, 1.x or 1.2.x || 2.x; numbers have no leading zeros.", fieldVersion, r.version), nil}
		}
		r.inRange = c
	}
	return r, r.parseInstalled(ext)
}

func (r *request) parseInstalled(ext *ocv1.ClusterExtension) *fault {
	if ext.Status.Install == nil {
		cond := meta.FindStatusCondition(ext.Status.Conditions, "Installed")
		r.unknownState = cond != nil && cond.Status == metav1.ConditionUnknown
		return nil
	}
	b := ext.Status.Install.Bundle
	in := &installedBundle{name: b.Name, text: b.Version, withRelease: b.Release != nil}
	v, rel, err := catalog.ParseVersion(b.Version, b.Release)
	if err == nil {
		in.parsed, in.version, in.release = true, v, rel
	} else if !r.selfCertified {
		return &fault{InvalidInstalledVersion, fieldInstalled,
			fmt.Sprintf("the installed bundle %q has a version or release that cannot be read: %v. Upgrade edges cannot be judged; upgradeConstraintPolicy: SelfCertified leaves them aside.", b.Name, err),
			[]Suggestion{suggestSelfCertified("to leave the upgrade edges aside, on your own responsibility,")}}
	}
	r.installed = in
	return nil
}

// parseSelector compiles the selector. nil and {} select everything.
func (r *request) parseSelector(s *metav1.LabelSelector) *fault {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		r.selector = labels.Everything()
		return nil
	}
	if name, ok := s.MatchLabels[ocv1.MetadataNameLabel]; ok && len(s.MatchLabels)+len(s.MatchExpressions) == 1 && plainName(name) {
		// The usual selector, without the cost of checking what is known to be right.
		r.selector, r.selective = labels.SelectorFromValidatedSet(labels.Set{ocv1.MetadataNameLabel: name}), true
		return nil
	}
	compiled, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		field, why := selectorFault(s, err)
		return &fault{InvalidSelector, field, fmt.Sprintf("the catalog selector cannot be read: %s: %s", field, why), nil}
	}
	r.selector, r.selective = compiled, true
	return nil
}

// plainName reports whether a text is surely a valid value of a label: small letters, digits and hyphens between them.
func plainName(s string) bool {
	if len(s) == 0 || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
