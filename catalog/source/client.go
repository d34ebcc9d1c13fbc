package source

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// client makes an http.Client that trusts what the CA files hold at the moment.
type client struct {
	opts  HTTPOptions
	roots roots

	mu      sync.Mutex
	current *http.Client
}

func newClient(o HTTPOptions) *client {
	return &client{opts: o, roots: roots{paths: o.CA}}
}

func (c *client) get() (*http.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pool, changed, err := c.roots.get()
	if err != nil {
		return nil, err
	}
	if c.current != nil && !changed {
		return c.current, nil
	}
	c.current = &http.Client{
		CheckRedirect: refuseRedirect,
		Transport: &http.Transport{
			Proxy:           c.opts.Proxy,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool},
			DialContext:     (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			// Fetches are minutes apart, and the next one should meet the catalogd that runs then.
			DisableKeepAlives:      true,
			DisableCompression:     true,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
	return c.current, nil
}

// refuseRedirect hands the redirect out as the answer; statusError then says where it leads.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
