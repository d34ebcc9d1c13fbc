package source

import (
	"errors"

	"k8s.io/client-go/rest"
)

// Options say where a process runs, so that Pick can choose the way to catalogd.
type Options struct {
	HTTPOptions
	// URL is the base of catalogd when it was given by hand (--catalogd-url); it comes first.
	URL string
	// InCluster is whether the process can resolve and reach Services of the cluster.
	InCluster bool
	// Config is for the API server, nil when there is none.
	Config *rest.Config
}

// Pick chooses how to reach catalogd: the URL that was given, else its Service when in the cluster, else the API
// server's service proxy. It calls nobody; when the service proxy turns out to be closed to the user, the error of the
// fetch says which ways are left.
func Pick(o Options) (*HTTP, error) {
	switch {
	case o.URL != "":
		return NewBase(o.URL, o.HTTPOptions)
	case o.InCluster:
		return NewHTTP(o.HTTPOptions)
	case o.Config != nil:
		return NewServiceProxy(o.Config, o.HTTPOptions)
	}
	return nil, errors.New("no way to catalogd: give a kubeconfig, the URL of catalogd (--catalogd-url), or content in files (--catalogs)")
}
