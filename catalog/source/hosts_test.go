package source

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckBase(t *testing.T) {
	withPort := []string{"catalogd.test:8443"}
	tests := map[string]struct {
		base  string
		hosts []string
		// says is a part of the error, "" when the address passes.
		says string
	}{
		"upstream":                         {base: "https://catalogd-service.olmv1-system.svc/catalogs/operatorhubio"},
		"upstream with the cluster domain": {base: "https://catalogd-service.olmv1-system.svc.cluster.local/catalogs/operatorhubio"},
		"OpenShift":                        {base: "https://catalogd-service.openshift-catalogd.svc/catalogs/a"},
		"the default port written out":     {base: "https://catalogd-service.olmv1-system.svc:443/catalogs/a"},
		"capital letters":                  {base: "https://Catalogd-Service.olmv1-system.SVC/catalogs/a"},
		"an allowed port":                  {base: "https://catalogd.test:8443/catalogs/a", hosts: withPort},
		"no port where one is required":    {base: "https://catalogd.test/catalogs/a", hosts: withPort, says: "not one of the allowed"},
		"another port":                     {base: "https://catalogd-service.olmv1-system.svc:8443/catalogs/a", says: "not one of the allowed"},
		"another host":                     {base: "https://evil.example/catalogs/a", says: `"evil.example", which is not one of the allowed catalogd hosts`},
		"a host that only begins the same": {base: "https://catalogd-service.olmv1-system.svc.evil.example/catalogs/a", says: "not one of the allowed"},
		"a host that only ends the same":   {base: "https://x.catalogd-service.olmv1-system.svc/catalogs/a", says: "not one of the allowed"},
		"a trailing dot":                   {base: "https://catalogd-service.olmv1-system.svc./catalogs/a", says: "not one of the allowed"},
		"an address of the cloud":          {base: "https://169.254.169.254/latest", says: "not one of the allowed"},
		"plain http":                       {base: "http://catalogd-service.olmv1-system.svc/catalogs/a", says: "is not https"},
		"a file":                           {base: "file:///etc/passwd", says: "is not https"},
		"an allowed host as the user":      {base: "https://catalogd-service.olmv1-system.svc@evil.example/a", says: "has a user"},
		"a user with a password":           {base: "https://u:hunter2@catalogd-service.olmv1-system.svc/a", says: "has a user"},
		"a query":                          {base: "https://catalogd-service.olmv1-system.svc/a?x=1", says: "has a query"},
		"an empty query":                   {base: "https://catalogd-service.olmv1-system.svc/a?", says: "has a query"},
		"a fragment":                       {base: "https://catalogd-service.olmv1-system.svc/a#b", says: "has a fragment"},
		"an empty fragment":                {base: "https://catalogd-service.olmv1-system.svc/a#", says: "has a fragment"},
		"a path that goes up":              {base: "https://catalogd-service.olmv1-system.svc/catalogs/../x", says: "dots"},
		"a path that goes up in disguise":  {base: "https://catalogd-service.olmv1-system.svc/catalogs/%2e%2e/x", says: "escaped"},
		"a slash in disguise":              {base: "https://catalogd-service.olmv1-system.svc/catalogs%2fa", says: "escaped"},
		"an empty path element":            {base: "https://catalogd-service.olmv1-system.svc//catalogs", says: "empty path element"},
		"no host":                          {base: "https:///catalogs/a", says: "no host"},
		"an opaque address":                {base: "https:catalogs/a", says: "no host"},
		"no URL":                           {base: "https://u:hunter2@%zz/", says: "not a URL"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hosts := tc.hosts
			if hosts == nil {
				hosts = DefaultHosts
			}
			u, err := checkBase(tc.base, hosts)
			if tc.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got, want := below(u, contentPath).String(), tc.base+"/api/v1/all"; got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				return
			}
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want it refused with %q", err, tc.says)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error holds the password: %v", err)
			}
		})
	}
}

func TestNewHTTPChecksItsHosts(t *testing.T) {
	for _, host := range []string{"", "https://catalogd.test", "catalogd.test/x", "u@catalogd.test", ":443"} {
		if _, err := NewHTTP(HTTPOptions{Hosts: []string{host}}); err == nil {
			t.Errorf("host %q was taken", host)
		}
	}
	for _, host := range []string{"catalogd.test", "catalogd.test:8443", "[::1]:8443"} {
		if _, err := NewHTTP(HTTPOptions{Hosts: []string{host}}); err != nil {
			t.Error(err)
		}
	}
}
