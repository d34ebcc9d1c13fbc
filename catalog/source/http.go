package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
)

// HTTPOptions say how to reach catalogd and what to take from it. The zero value is for a process inside the cluster
// whose system trusts catalogd's CA.
type HTTPOptions struct {
	// Hosts that status.urls.base may name, HOST or HOST:PORT, compared exactly. Default DefaultHosts.
	Hosts []string
	// CA are PEM files, or directories of them, with CAs to trust besides the system's. They are read again before
	// every fetch. They need not exist before the first one.
	CA []string
	// Proxy chooses a proxy for a request, such as http.ProxyFromEnvironment. Default none, whatever the environment
	// says: catalogd is a Service of the cluster, and a proxy for the internet cannot reach it.
	Proxy func(*http.Request) (*url.URL, error)
	// Limits of what is read.
	Limits catalog.Limits
	// Stall is how long no byte may arrive, from the first packet to the last. catalogd itself stands still for 2 s
	// while it stores a catalog. Default 30 s.
	Stall time.Duration
	// Total is how long one fetch may take. Default 5 min, which is also catalogd's own limit.
	Total time.Duration
}

func (o HTTPOptions) withDefaults() HTTPOptions {
	if len(o.Hosts) == 0 {
		o.Hosts = DefaultHosts
	}
	if o.Limits.TotalBytes <= 0 {
		o.Limits.TotalBytes = 2 << 30
	}
	if o.Stall <= 0 {
		o.Stall = 30 * time.Second
	}
	if o.Total <= 0 {
		o.Total = 5 * time.Minute
	}
	return o
}

// HTTP fetches content from catalogd. Make one with NewHTTP, NewServiceProxy, NewBase or Pick.
type HTTP struct {
	opts HTTPOptions
	// way is said in errors.
	way string
	// locate turns status.urls.base into the address to call.
	locate func(base string) (*url.URL, error)
	// client is asked before every fetch.
	client func() (*http.Client, error)
	// hint says what to check after an error, "" when there is nothing to say.
	hint func(error) string
}

var _ Fetcher = (*HTTP)(nil)

// NewHTTP calls the address that the ClusterCatalog's status names, as a process inside the cluster can.
func NewHTTP(o HTTPOptions) (*HTTP, error) {
	o = o.withDefaults()
	for _, h := range o.Hosts {
		if u, err := url.Parse("https://" + h); err != nil || u.Host != h || u.Hostname() == "" {
			return nil, fmt.Errorf("allowed catalogd host %q: write it as HOST or HOST:PORT", h)
		}
	}
	return &HTTP{
		opts:   o,
		way:    "from catalogd",
		locate: func(base string) (*url.URL, error) { return checkBase(base, o.Hosts) },
		client: newClient(o).get,
		hint:   hintInside,
	}, nil
}

// Way is how catalogd is reached, in words.
func (h *HTTP) Way() string { return h.way }

// Fetch reads /api/v1/all below status.urls.base once. Errors are FetchErrors.
func (h *HTTP) Fetch(ctx context.Context, cc *ocv1.ClusterCatalog) (*catalog.Index, error) {
	failed := &FetchError{Catalog: cc.Name, Way: h.way}
	if cc.Status.URLs == nil || cc.Status.URLs.Base == "" {
		failed.Err = ErrNoURL
		return nil, failed
	}
	base, err := h.locate(cc.Status.URLs.Base)
	if err != nil {
		failed.Err = err
		return nil, failed
	}
	address := below(base, contentPath)
	failed.URL = address.Redacted()
	index, err := h.get(ctx, address)
	if err != nil {
		failed.Err = h.explain(err)
		return nil, failed
	}
	return index, nil
}

func (h *HTTP) get(ctx context.Context, address *url.URL) (*catalog.Index, error) {
	client, err := h.client()
	if err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeoutCause(ctx, h.opts.Total, fmt.Errorf("%w: it was not complete after %s", ErrDeadline, h.opts.Total))
	defer done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := newWatchdog(h.opts.Stall, cancel)
	defer watch.stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	// Asked for by hand, so that the transport leaves the body as it came and a missing gzip trailer is seen here.
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("User-Agent", "olmgate")
	watch.start()
	resp, err := client.Do(req)
	watch.stop()
	if err != nil {
		return nil, causeOf(ctx, withoutURL(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, statusError(resp, watch)
	}
	body, err := newBody(resp, watch, h.opts.Limits.TotalBytes)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	index, err := readAll(body, h.opts.Limits)
	// Without an error too: a server that notices the end of the request may still end its answer in good order, and
	// what arrived until then looks complete.
	if err = causeOf(ctx, err); err != nil {
		return nil, err
	}
	return index, nil
}

// causeOf prefers the reason why the request was ended over what the transport makes of it.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// withoutURL drops the address that net/http puts before an error; FetchError has it.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
