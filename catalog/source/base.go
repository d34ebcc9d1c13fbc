package source

import (
	"errors"
	"fmt"
	"net/url"
	"syscall"
)

// NewBase calls another base than status.urls.base names, for example https://localhost:8443 with a port-forward to
// catalogd: the path of status.urls.base below base. Only the path of the status counts then, so HTTPOptions.Hosts do
// not apply.
func NewBase(base string, o HTTPOptions) (*HTTP, error) {
	to, err := checkForm(base)
	if err != nil {
		return nil, fmt.Errorf("the URL of catalogd: %w: write it as https://HOST[:PORT], for example https://localhost:8443", err)
	}
	o = o.withDefaults()
	return &HTTP{
		opts: o,
		way:  "from catalogd at the given URL",
		locate: func(base string) (*url.URL, error) {
			from, err := checkForm(base)
			if err != nil {
				return nil, err
			}
			return below(to, from.Path), nil
		},
		client: newClient(o).get,
		hint: func(err error) string {
			if errors.Is(err, syscall.ECONNREFUSED) {
				return "check that the port-forward to catalogd runs"
			}
			return hintInside(err)
		},
	}, nil
}
