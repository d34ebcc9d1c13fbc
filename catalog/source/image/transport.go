package image

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"syscall"
	"time"
)

const (
	// maxRedirects is how many redirects are followed for one request; a registry needs one, to where its layers are.
	maxRedirects = 5
	// maxAnswer is the size of an answer that is neither a manifest nor a blob.
	maxAnswer = 1 << 20
)

// guard is the way of every request to a registry. It bounds what comes back, and when.
type guard struct {
	inner *http.Transport
	opts  *Options
}

func newGuard(o *Options) *guard {
	return &guard{opts: o, inner: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            o.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.roots},
		TLSHandshakeTimeout:    o.Connect,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout:        30 * time.Second,
	}}
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	first, hops := origin(req)
	switch {
	case req.URL.Scheme != "https" && !loopback(req.URL.Hostname()):
		return nil, fmt.Errorf("%w: %s would be asked over plain HTTP, which everybody on the way can read and change", ErrRefused, req.URL.Host)
	case hops > maxRedirects:
		return nil, fmt.Errorf("%w: the registry redirects more than %d times", ErrRefused, maxRedirects)
	case hops > 0 && loopback(req.URL.Hostname()) && !loopback(first.URL.Hostname()):
		return nil, fmt.Errorf("%w: the registry redirects to this machine", ErrRefused)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	watch := time.AfterFunc(g.opts.Stall, func() {
		cancel(fmt.Errorf("%w: nothing arrived for %s", ErrStalled, g.opts.Stall))
	})
	resp, err := g.inner.RoundTrip(req.WithContext(ctx))
	watch.Stop()
	if err != nil {
		err = causeOf(ctx, err)
		cancel(nil)
		return nil, err
	}
	resp.Body = &body{inner: resp.Body, ctx: ctx, cancel: cancel, watch: watch, stall: g.opts.Stall, left: g.most(first, resp)}
	return resp, nil
}

// most is how large an answer may be, in bytes.
func (g *guard) most(first *http.Request, resp *http.Response) int64 {
	if resp.StatusCode == http.StatusOK {
		switch path.Base(path.Dir(first.URL.Path)) {
		case "blobs":
			return g.opts.Limits.LayerBytes
		case "manifests":
			return g.opts.Limits.ManifestBytes
		}
	}
	return maxAnswer
}

// origin is the request that redirects led away from, and their number.
func origin(req *http.Request) (*http.Request, int) {
	hops := 0
	for req.Response != nil && req.Response.Request != nil && hops <= maxRedirects {
		req = req.Response.Request
		hops++
	}
	return req, hops
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// causeOf prefers the reason why a request was ended over what the transport makes of it.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, io.EOF) {
		return cause
	}
	return err
}

// body is an answer that is watched and bounded.
type body struct {
	inner  io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	watch  *time.Timer
	stall  time.Duration
	left   int64
}

func (b *body) Read(p []byte) (int, error) {
	b.watch.Reset(b.stall)
	n, err := b.inner.Read(p)
	b.watch.Stop()
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("%w: the answer of the registry is larger than it may be", ErrLimit)
	}
	if err != nil {
		err = causeOf(b.ctx, err)
	}
	return n, err
}

func (b *body) Close() error {
	b.watch.Stop()
	b.cancel(nil)
	return b.inner.Close()
}

// again reports whether a request should be made once more after err.
func again(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
