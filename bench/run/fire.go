package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"strconv"
	"time"
)

const (
	concurrent = 100
	// fixedRate is the load at which latency is compared, in reviews a second.
	fixedRate = 5000
	// mostReviews bounds a round.
	mostReviews = 1 << 20
)

// fired is what one round of load measured.
type fired struct {
	PerSecond float64
	// P99 is in milliseconds, from when a review was due to the end of its answer.
	P99 float64
}

// childFire sends reviews over one HTTP/2 connection, as an API server does: child-fire URL BODIES RATE; rate 0 is as
// fast as 100 at a time go. It shares the cores with the server, so it speaks the protocol itself, with two goroutines
// and without garbage, and costs little.
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
	debug.SetGCPercent(-1) // a round is short, and the sender's pauses are not the server's
	c, err := dial(to)
	if err != nil {
		return err
	}
	for _, body := range bodies {
		c.prepare(body)
	}
	received := make(chan error, 1)
	go func() { received <- c.receive() }()
	start := time.Now()
	err = c.send(start, rate)
	if err != nil {
		c.tls.Close() // so that receive ends
	}
	if err := errors.Join(err, <-received); err != nil {
		return err
	}
	took := time.Since(start)
	latency := make([]float64, 0, c.sent.Load())
	for i := range int(c.sent.Load()) {
		latency = append(latency, float64(c.done[i]-c.due[i])/float64(time.Millisecond))
	}
	if len(latency) == 0 {
		return fmt.Errorf("nothing was sent to %s", to)
	}
	return json.NewEncoder(os.Stdout).Encode(fired{float64(len(latency)) / took.Seconds(), quantile(latency, 0.99)})
}
