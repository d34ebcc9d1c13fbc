package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// pollInterval is how often a condition is looked at again.
const pollInterval = 50 * time.Millisecond

// Poll calls check until it returns nil. When the context ends first, the error
// is the last one that check returned.
func Poll(ctx context.Context, check func(context.Context) error) error {
	return pollUntil(ctx, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		return err == nil, err
	})
}

// pollUntil is Poll for checks that can also give up.
func pollUntil(ctx context.Context, check func(context.Context) (done bool, err error)) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var last error
	for {
		done, err := check(ctx)
		if done {
			return err
		}
		// What a check says after the deadline is only that it was cut short.
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gave up waiting (%w): %w", ctx.Err(), last)
		case <-ticker.C:
		}
	}
}

// URLReady is satisfied once a GET of the address answers 200. A nil client is
// the default one.
func URLReady(client *http.Client, url string) func(context.Context) error {
	if client == nil {
		client = http.DefaultClient
	}
	return func(ctx context.Context) error {
		_, err := get(ctx, client, url)
		return err
	}
}

// SelfSignedReady is URLReady for a program that signs a certificate for itself at each start.
func SelfSignedReady(url string) func(context.Context) error {
	return URLReady(&http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
	}}, url)
}

// addressReady is satisfied once the address accepts connections.
func addressReady(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// get returns the body of a 200 answer.
func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s: %s", url, response.Status, lastLines(body, 3))
	}
	return body, nil
}
