package main

import (
	"fmt"
	"net/http"
	"path"
	"sync"
)

// contact tells when watches are refused or do not get through, and when they do again. What asks tries again by itself.
type contact struct {
	say  func(format string, args ...any)
	mu   sync.Mutex
	lost map[string]bool // by resource
}

func (c *contact) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if req.URL.Query().Get("watch") == "true" && req.Context().Err() == nil {
			c.heard(path.Base(req.URL.Path), trouble(resp, err))
		}
		return resp, err
	})
}

// trouble says why a watch did not begin, "" when it did or will in another way.
func trouble(resp *http.Response, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden,
		resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode >= http.StatusInternalServerError:
		return fmt.Sprintf("the API server answers %s", resp.Status)
	}
	return ""
}

func (c *contact) heard(resource, trouble string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case trouble != "" && !c.lost[resource]:
		c.say("the watch of %s was cut: %s; trying again", resource, trouble)
	case trouble == "" && c.lost[resource]:
		c.say("watching %s again", resource)
	}
	c.lost[resource] = trouble != ""
}

// roundTrip is a function as a http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
