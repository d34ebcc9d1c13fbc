package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
)

const (
	concurrent = 100
	// fixedRate is the load at which latency is compared, in reviews a second.
	fixedRate = 5000
)

// fired is what one round of load measured.
type fired struct {
	PerSecond float64
	// P99 is in milliseconds, from when a review was due to its whole answer.
	P99 float64
}

// childFire sends reviews over HTTP/2: child-fire URL BODIES RATE; rate 0 is as fast as 100 senders can.
func childFire(args []string) error {
	to, err := url.Parse(args[0] + "?timeout=5s")
	if err != nil {
		return err
	}
	rate, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	var bodies []json.RawMessage
	if err := json.Unmarshal(raw, &bodies); err != nil {
		return err
	}
	client := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // its own server, on loopback
	if err := review(client, to, bodies[0], true); err != nil {
		return err
	}
	debug.SetGCPercent(-1) // a round is short, and the sender's pauses are not the server's
	due := make(chan time.Time, concurrent)
	go schedule(due, rate)
	var (
		next    atomic.Int64
		mu      sync.Mutex
		latency []float64
		failed  error
		senders sync.WaitGroup
	)
	start := time.Now()
	for range concurrent {
		senders.Go(func() {
			var mine []float64
			for at := range due {
				if err := review(client, to, bodies[int(next.Add(1))%len(bodies)], false); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
				mine = append(mine, float64(time.Since(at).Microseconds())/1e3)
			}
			mu.Lock()
			latency = append(latency, mine...)
			mu.Unlock()
		})
	}
	senders.Wait()
	if failed != nil {
		return failed
	}
	return json.NewEncoder(os.Stdout).Encode(fired{float64(len(latency)) / time.Since(start).Seconds(), quantile(latency, 0.99)})
}

// schedule says when reviews are due, for one round.
func schedule(due chan<- time.Time, rate int) {
	defer close(due)
	start := time.Now()
	for n := 0; time.Since(start) < roundSeconds*time.Second; n++ {
		at := time.Now()
		if rate > 0 {
			at = start.Add(time.Duration(n) * time.Second / time.Duration(rate))
			time.Sleep(time.Until(at))
		}
		due <- at
	}
}

var header = http.Header{"Content-Type": {"application/json"}}

// review sends one review and checks that it was allowed. It does as little else as it can: it shares the cores with
// the server.
func review(client *http.Transport, to *url.URL, body []byte, verbose bool) error {
	resp, err := client.RoundTrip(&http.Request{
		Method: http.MethodPost, URL: to, Host: to.Host, Header: header, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw := make([]byte, 0, 4096)
	for err == nil {
		var n int
		if len(raw) == cap(raw) {
			raw = append(raw, 0)[:len(raw)]
		}
		n, err = resp.Body.Read(raw[len(raw):cap(raw)])
		raw = raw[:len(raw)+n]
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", resp.Status, raw)
	}
	if !bytes.Contains(raw, []byte(`"allowed":true`)) {
		return fmt.Errorf("not allowed: %s", raw)
	}
	if verbose {
		var answer admissionv1.AdmissionReview
		if err := json.Unmarshal(raw, &answer); err != nil {
			return err
		}
		if resp.ProtoMajor != 2 {
			return fmt.Errorf("protocol %s, want HTTP/2", resp.Proto)
		}
	}
	return nil
}
