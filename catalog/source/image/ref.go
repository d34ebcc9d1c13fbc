package image

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// whole matches a repository with its registry. What is between slashes begins and ends with a letter or digit.
var whole = regexp.MustCompile(`^(localhost|[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+|[A-Za-z0-9.-]+:[0-9]+|\[[0-9a-fA-F:]+\](:[0-9]+)?)(/[a-z0-9]+([._-]+[a-z0-9]+)*)+$`)

// parse reads REGISTRY/REPOSITORY:TAG or REGISTRY/REPOSITORY@DIGEST, as spec.source.image.ref of a ClusterCatalog. No
// registry and no tag is assumed.
func parse(text string) (name.Reference, error) {
	ref, err := name.ParseReference(text, name.StrictValidation)
	switch {
	case err != nil || !whole.MatchString(repository(text)):
		return nil, errors.New("write it as REGISTRY/REPOSITORY:TAG or REGISTRY/REPOSITORY@sha256:DIGEST, for example example.com/catalogs/hub:v1")
	case strings.Contains(ref.Identifier(), ":") && !strings.HasPrefix(ref.Identifier(), "sha256:"):
		return nil, errors.New("only digests of the kind sha256 are read")
	}
	return ref, nil
}

// Check reports whether a reference can be read, without asking anybody.
func Check(ref string) error {
	if _, err := parse(ref); err != nil {
		return &Error{ref, err}
	}
	return nil
}

// Mirror is another place for the images below a registry or a part of it.
type Mirror struct {
	// From and To are registries, with or without the beginning of a repository's path.
	From, To string
}

// ParseMirror reads FROM=TO.
func ParseMirror(s string) (Mirror, error) {
	from, to, found := strings.Cut(s, "=")
	if !found || from == "" || to == "" {
		return Mirror{}, fmt.Errorf("mirror %q: write it as FROM=TO, for example example.com=mirror.example.com/example", s)
	}
	for _, part := range []string{from, to} {
		if _, err := name.NewRepository(part+"/x", name.StrictValidation); err != nil || strings.HasSuffix(part, "/") {
			return Mirror{}, fmt.Errorf("mirror %q: %q is neither a registry nor the beginning of a repository, such as example.com/catalogs", s, part)
		}
	}
	return Mirror{full(from), full(to)}, nil
}

// full is a registry or the beginning of a repository as names of repositories begin, since registries have other names
// for short.
func full(part string) string {
	r, err := name.NewRepository(part+"/x", name.StrictValidation)
	if err != nil {
		return part
	}
	return strings.TrimSuffix(r.Name(), "/x")
}

// repository is a reference without its tag and digest.
func repository(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if i := strings.LastIndexByte(ref, ':'); i > strings.LastIndexByte(ref, '/') {
		ref = ref[:i]
	}
	return ref
}

// places are the repositories that may have an image, in the order in which they are asked: mirrors, then its own.
func (o *Options) places(own name.Repository) []name.Repository {
	var all []name.Repository
	for _, m := range o.Mirrors {
		rest, found := strings.CutPrefix(own.Name(), m.From)
		if !found || rest != "" && rest[0] != '/' {
			continue
		}
		if to, err := name.NewRepository(m.To+rest, name.StrictValidation); err == nil {
			all = append(all, to)
		}
	}
	return append(all, own)
}
