package source

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// DefaultHosts are the names under which catalogd serves in upstream OLM and in OpenShift.
var DefaultHosts = []string{
	"catalogd-service.olmv1-system.svc",
	"catalogd-service.olmv1-system.svc.cluster.local",
	"catalogd-service.openshift-catalogd.svc",
	"catalogd-service.openshift-catalogd.svc.cluster.local",
}

// checkBase reads the address that a ClusterCatalog's status gives for its content. Whoever can write a status can put
// any address there, so only https addresses of the allowed hosts pass, in the plainest form. An entry of hosts without
// a port allows the https port only.
func checkBase(base string, hosts []string) (*url.URL, error) {
	u, err := checkForm(base)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(hosts, func(allowed string) bool { return sameHost(allowed, u) }) {
		return nil, fmt.Errorf("%w: status.urls.base names the host %q, which is not one of the allowed catalogd hosts (%s): if that is where catalogd serves in this cluster, allow it in olmgate's configuration",
			ErrRefused, u.Host, strings.Join(hosts, ", "))
	}
	return u, nil
}

// checkForm accepts https://HOST[:PORT]/PATH and nothing else.
func checkForm(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil {
		// The parse error repeats the text, which may hold a password.
		return nil, fmt.Errorf("%w: the address of catalogd is not a URL", ErrRefused)
	}
	refuse := func(what string) (*url.URL, error) {
		return nil, fmt.Errorf("%w: the address %s %s", ErrRefused, u.Redacted(), what)
	}
	switch {
	case u.Scheme != "https":
		return refuse("is not https")
	case u.User != nil:
		return refuse("has a user in it")
	case u.RawQuery != "" || u.ForceQuery:
		return refuse("has a query")
	case u.Fragment != "" || strings.Contains(base, "#"):
		return refuse("has a fragment")
	case u.Hostname() == "":
		return refuse("has no host")
	case strings.ContainsAny(u.EscapedPath(), `%\`):
		return refuse("has escaped characters in its path")
	case u.Path != "" && !strings.HasPrefix(u.Path, "/"):
		return refuse("has a relative path")
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(s string) bool { return s == "." || s == ".." }):
		return refuse("has dots as a path element")
	case strings.Contains(u.Path, "//"):
		return refuse("has an empty path element")
	}
	return u, nil
}

// sameHost compares exactly, apart from case and a default port.
func sameHost(allowed string, u *url.URL) bool {
	a := &url.URL{Host: allowed}
	return strings.EqualFold(a.Hostname(), u.Hostname()) && portOf(a) == portOf(u)
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return "443"
}

// contentPath is where catalogd serves all blobs of a catalog, below its base.
const contentPath = "/api/v1/all"

// below appends a path to that of base.
func below(base *url.URL, path string) *url.URL {
	u := *base
	u.Path = strings.TrimRight(base.Path, "/") + "/" + strings.Trim(path, "/")
	u.RawPath = ""
	return &u
}
