package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Server serves the endpoints over TLS. It is a runnable for a controller-runtime manager, which starts it after the
// caches have synced.
//
// Unlike controller-runtime's own server it does not hand the manager's context to requests: that context ends with
// SIGTERM, and reviews that are under way would be cut off. They are finished instead, for as long as DrainTimeout.
type Server struct {
	// Address to listen on, host:port. Unused when Listener is set.
	Address string
	// Listener to serve on instead of Address; the server closes it.
	Listener net.Listener
	// Handler of all paths.
	Handler http.Handler
	// GetCertificate is asked at every handshake.
	GetCertificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// MinTLSVersion is tls.VersionTLS13 when 0.
	MinTLSVersion uint16
	// ConfigureTLS changes the TLS configuration before it is used; nil leaves it. Mutual TLS comes in here.
	ConfigureTLS func(*tls.Config)
	// DrainTimeout bounds how long reviews under way are waited for at shutdown; 25 s when 0, which is less than what
	// a manager waits.
	DrainTimeout time.Duration
	// Log; nil means slog.Default().
	Log *slog.Logger

	// farewell is how long kept connections are let go of before the rest is closed; defaultFarewell when 0.
	farewell time.Duration
	state    atomic.Int32
}

const (
	serverNew int32 = iota
	serverListening
	serverDraining
)

// NewMux serves the endpoint at Path and nothing else.
func NewMux(endpoint http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle(Path, endpoint)
	return mux
}

// NeedLeaderElection tells the manager that every replica serves.
func (*Server) NeedLeaderElection() bool { return false }

// Ready is nil while the server takes connections. It says nothing about certificates.
func (s *Server) Ready() error {
	switch s.state.Load() {
	case serverListening:
		return nil
	case serverDraining:
		return errors.New("the webhook server is shutting down")
	}
	return errors.New("the webhook server does not listen yet")
}

// Start serves until the context ends, then finishes what is under way and returns.
func (s *Server) Start(ctx context.Context) error {
	log := s.Log
	if log == nil {
		log = slog.Default()
	}
	if s.GetCertificate == nil {
		return errors.New("start the webhook server: GetCertificate is missing: give that of a certificate source")
	}
	listener := s.Listener
	if listener == nil {
		var err error
		if listener, err = new(net.ListenConfig).Listen(ctx, "tcp", s.Address); err != nil {
			return fmt.Errorf("start the webhook server: %w; choose another address with --webhook-bind-address", err)
		}
	}
	server := s.httpServer(log)
	if s.farewell == 0 {
		s.farewell = defaultFarewell
	}
	goodbye := &farewell{next: server.Handler, empty: make(chan struct{})}
	server.Handler, server.ConnState = goodbye, goodbye.count
	served := make(chan error, 1)
	go func() { served <- server.ServeTLS(listener, "", "") }()
	s.state.Store(serverListening)
	log.Info("the webhook server listens", "address", listener.Addr().String(), "path", Path)

	select {
	case err := <-served:
		s.state.Store(serverDraining)
		return fmt.Errorf("serve webhooks on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	s.state.Store(serverDraining)
	return s.drain(server, goodbye, log)
}

func (s *Server) drain(server *http.Server, goodbye *farewell, log *slog.Logger) error {
	timeout := s.DrainTimeout
	if timeout == 0 {
		timeout = 25 * time.Second
	}
	log.Info("the webhook server finishes the reviews under way", "timeout", timeout)
	// Not derived from the manager's context, which has ended.
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	goodbye.say(ctx, s.farewell)
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close()
		return fmt.Errorf("finish the reviews under way: %w", err)
	}
	return nil
}

// httpServer has limits that suit an API server as the client: it waits 30 s at most and keeps idle connections 90 s.
func (s *Server) httpServer(log *slog.Logger) *http.Server {
	minVersion := s.MinTLSVersion
	if minVersion == 0 {
		minVersion = tls.VersionTLS13
	}
	config := &tls.Config{
		GetCertificate: s.GetCertificate,
		MinVersion:     minVersion,
		NextProtos:     []string{"h2", "http/1.1"},
	}
	if s.ConfigureTLS != nil {
		s.ConfigureTLS(config)
	}
	return &http.Server{
		Handler:           s.Handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       maxTimeout,
		WriteTimeout:      maxTimeout + 10*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		TLSConfig:         config,
	}
}
