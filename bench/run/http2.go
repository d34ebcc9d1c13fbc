package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// call is a request ready to be sent: its header block, which refers to no state of the connection, and its body.
type call struct{ header, body []byte }

// conn is an HTTP/2 connection that sends prepared calls, at most `concurrent` at a time.
type conn struct {
	to    *url.URL
	tls   *tls.Conn
	out   *bufio.Writer
	calls []call

	mu     sync.Mutex // guards framer's writing side and out
	framer *http2.Framer
	window atomic.Int64 // bytes that the server still takes on the connection

	free chan struct{} // a place for each call that may be under way
	sent atomic.Int64  // calls sent; complete once stopped is set
	stop atomic.Bool
	dead chan struct{} // closed when no more answers can come
	// due and done of each call, in nanoseconds since the epoch.
	due, done []int64
}

func dial(to *url.URL) (*conn, error) {
	t, err := tls.Dial("tcp", to.Host, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{http2.NextProtoTLS}}) //nolint:gosec // its own server, on loopback
	if err != nil {
		return nil, err
	}
	if p := t.ConnectionState().NegotiatedProtocol; p != http2.NextProtoTLS {
		return nil, fmt.Errorf("protocol %q, want HTTP/2", p)
	}
	c := &conn{to: to, tls: t, out: bufio.NewWriterSize(t, 64<<10), free: make(chan struct{}, concurrent), dead: make(chan struct{}),
		due: make([]int64, mostReviews), done: make([]int64, mostReviews)}
	c.framer = http2.NewFramer(c.out, bufio.NewReaderSize(t, 64<<10))
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.window.Store(65_535)
	for range concurrent {
		c.free <- struct{}{}
	}
	_, err = c.out.WriteString(http2.ClientPreface)
	err = errors.Join(err,
		c.framer.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 0}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20}),
		c.framer.WriteWindowUpdate(0, 1<<30), // more than a round's answers, so that no update is needed
		c.out.Flush())
	return c, err
}

// prepare makes a call of a body.
func (c *conn) prepare(body []byte) {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, f := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":authority", c.to.Host}, {":path", c.to.RequestURI()},
		{"content-type", "application/json"}, {"content-length", strconv.Itoa(len(body))}} {
		// Sensitive fields are not put into the table of the connection, so the block can be sent any number of times.
		if err := enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1], Sensitive: true}); err != nil {
			panic(err) // cannot be: it writes to memory
		}
	}
	c.calls = append(c.calls, call{block.Bytes(), body})
}

// send sends calls for one round: at a rate, or whenever there is a place when the rate is 0.
func (c *conn) send(start time.Time, rate int) error {
	end := start.Add(roundSeconds * time.Second)
	n := 0
	for ; n < mostReviews; n++ {
		due := time.Now()
		if rate > 0 {
			due = start.Add(time.Duration(n) * time.Second / time.Duration(rate))
			if wait := time.Until(due); wait > 0 {
				if err := c.flush(); err != nil {
					return err
				}
				time.Sleep(wait)
			}
		}
		if due.After(end) {
			break
		}
		if err := c.place(); err != nil {
			return err
		}
		if rate == 0 {
			due = time.Now()
		}
		c.due[n] = due.UnixNano()
		if err := c.write(uint32(2*n+1), c.calls[n%len(c.calls)]); err != nil {
			return err
		}
		c.sent.Store(int64(n + 1))
	}
	if err := c.flush(); err != nil {
		return err
	}
	// All places free again: every answer has come.
	for range concurrent {
		if err := c.place(); err != nil {
			return err
		}
	}
	c.stop.Store(true)
	return c.tls.Close()
}

// place waits until one more call may be under way. What was written is flushed before it waits.
func (c *conn) place() error {
	select {
	case <-c.free:
		return nil
	default:
	}
	if err := c.flush(); err != nil {
		return err
	}
	select {
	case <-c.free:
		return nil
	case <-c.dead:
		return errDead
	}
}

var errDead = errors.New("no more answers come")

func (c *conn) write(stream uint32, r call) error {
	for c.window.Load() < int64(len(r.body)) {
		if err := c.flush(); err != nil {
			return err
		}
		time.Sleep(50 * time.Microsecond)
	}
	c.window.Add(-int64(len(r.body)))
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: r.header, EndHeaders: true})
	return errors.Join(err, c.framer.WriteData(stream, true, r.body))
}

func (c *conn) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Flush()
}

// receive reads answers until the connection is closed by send. Every review must be allowed.
func (c *conn) receive() error {
	defer close(c.dead)
	partial := map[uint32][]byte{}
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			if c.stop.Load() {
				return nil
			}
			return fmt.Errorf("reading answers: %w", err)
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			if s := f.PseudoValue("status"); s != "200" || f.StreamEnded() {
				return fmt.Errorf("status %s", s)
			}
		case *http2.DataFrame:
			body := f.Data()
			if more, ok := partial[f.StreamID]; ok || !f.StreamEnded() {
				body = append(more, body...)
				partial[f.StreamID] = body
			}
			if !f.StreamEnded() {
				continue
			}
			delete(partial, f.StreamID)
			if !bytes.Contains(body, []byte(`"allowed":true`)) {
				return fmt.Errorf("not allowed: %s", body)
			}
			c.done[(f.StreamID-1)/2] = time.Now().UnixNano()
			c.free <- struct{}{}
		case *http2.WindowUpdateFrame:
			if f.StreamID == 0 {
				c.window.Add(int64(f.Increment))
			}
		case *http2.SettingsFrame, *http2.PingFrame:
			if err := c.acknowledge(frame); err != nil {
				return err
			}
		case *http2.GoAwayFrame, *http2.RSTStreamFrame:
			return fmt.Errorf("the server ended it: %v", frame)
		}
	}
}

func (c *conn) acknowledge(frame http2.Frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		if f.IsAck() {
			return nil
		}
		err = c.framer.WriteSettingsAck()
	case *http2.PingFrame:
		if f.IsAck() {
			return nil
		}
		err = c.framer.WritePing(true, f.Data)
	}
	return errors.Join(err, c.out.Flush())
}
