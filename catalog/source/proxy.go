package source

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"
)

// NewServiceProxy calls catalogd through the API server, for a process outside the cluster that has a kubeconfig. The
// user needs the permission to get services/proxy in catalogd's namespace.
//
// Service, namespace and port come from the host of status.urls.base, which must be one of HTTPOptions.Hosts. The CA
// bundle and the proxy of HTTPOptions do not apply: config says how to reach the API server, and the API server does
// not verify the certificate of a Service that it forwards to.
func NewServiceProxy(config *rest.Config, o HTTPOptions) (*HTTP, error) {
	o = o.withDefaults()
	config = rest.CopyConfig(config)
	config.Timeout = 0 // o.Total is the limit
	config.DisableCompression = true
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("the address of the API server in the kubeconfig: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the API server as the kubeconfig says: %w", err)
	}
	client := &http.Client{Transport: transport, CheckRedirect: refuseRedirect}
	return &HTTP{
		opts: o,
		way:  "through the API server's service proxy",
		locate: func(base string) (*url.URL, error) {
			from, err := checkBase(base, o.Hosts)
			if err != nil {
				return nil, err
			}
			path, err := proxyPath(from)
			if err != nil {
				return nil, err
			}
			return below(server, path), nil
		},
		client: func() (*http.Client, error) { return client, nil },
		hint:   hintProxy,
	}, nil
}

// proxyPath turns https://SERVICE.NAMESPACE.svc/PATH into the path of the service proxy.
func proxyPath(from *url.URL) (string, error) {
	labels := strings.Split(from.Hostname(), ".")
	if len(labels) < 3 || labels[2] != "svc" {
		return "", fmt.Errorf("%w: the host %q is not SERVICE.NAMESPACE.svc, so the API server cannot forward to it: reach catalogd another way and give its URL (--catalogd-url)",
			ErrRefused, from.Hostname())
	}
	return fmt.Sprintf("/api/v1/namespaces/%s/services/https:%s:%s/proxy%s", labels[1], labels[0], portOf(from), from.Path), nil
}

const otherWay = "or reach it by kubectl port-forward and give its URL (--catalogd-url https://localhost:PORT)"

func hintProxy(err error) string {
	var status *StatusError
	if !errors.As(err, &status) {
		return ""
	}
	switch status.Code {
	case http.StatusUnauthorized:
		return "the API server does not know the user: log in again"
	case http.StatusForbidden:
		return "let the user get services/proxy in catalogd's namespace, " + otherWay
	case http.StatusNotFound:
		return "catalogd has no content of it at the moment, or its Service is not there; " + otherWay
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "the API server does not reach catalogd: check that it runs, " + otherWay
	}
	return ""
}
