package catalog

import (
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
)

// maxReleaseLength is the limit of operator-registry's release type: longer build metadata is not a release.
const maxReleaseLength = 20

// Release tells builds of one version apart. Unset (nil) is lower than any release.
type Release []semver.PRVersion

// ParseRelease reads dot-separated identifiers of letters, digits and hyphens, numbers without leading zeros, at most
// 20 characters in all. "" is the unset release.
func ParseRelease(s string) (Release, error) {
	if s == "" {
		return nil, nil
	}
	if len(s) > maxReleaseLength {
		return nil, fmt.Errorf("release %.40q is longer than %d characters", s, maxReleaseLength)
	}
	parts := strings.Split(s, ".")
	r := make(Release, 0, len(parts))
	for _, p := range parts {
		id, err := semver.NewPRVersion(p)
		if err != nil {
			return nil, fmt.Errorf("release %q: %w", s, err)
		}
		r = append(r, id)
	}
	return r, nil
}

// Compare returns -1, 0 or 1. Identifiers compare one by one, numbers as numbers and below words, a prefix below its
// extension.
func (r Release) Compare(o Release) int {
	for i := range min(len(r), len(o)) {
		if c := r[i].Compare(o[i]); c != 0 {
			return c
		}
	}
	switch {
	case len(r) < len(o):
		return -1
	case len(r) > len(o):
		return 1
	}
	return 0
}

// String is the dotted form, "" when unset.
func (r Release) String() string {
	if len(r) == 0 {
		return ""
	}
	parts := make([]string, len(r))
	for i, id := range r {
		parts[i] = id.String()
	}
	return strings.Join(parts, ".")
}

// ParseVersion reads a bundle's version strictly. release is the release that stands beside it; nil means that none
// does, and then build metadata that is a valid release becomes the release and leaves the version.
func ParseVersion(version string, release *string) (semver.Version, Release, error) {
	v, err := semver.Parse(version)
	if err != nil {
		return semver.Version{}, nil, fmt.Errorf("version %.80q: %w", version, err)
	}
	if release != nil {
		r, err := ParseRelease(*release)
		if err != nil {
			return semver.Version{}, nil, err
		}
		return v, r, nil
	}
	if len(v.Build) > 0 {
		if r, err := ParseRelease(strings.Join(v.Build, ".")); err == nil {
			v.Build = nil
			return v, r, nil
		}
	}
	return v, nil, nil
}
