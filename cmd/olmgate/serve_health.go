package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/olmgate/olmgate/catalog/store"
	"github.com/olmgate/olmgate/certs"
	"github.com/olmgate/olmgate/webhook"
)

// check is one condition of readiness; nil means that it is met.
type check struct {
	name  string
	ready func() error
}

// readiness are the certificate, the server, and each catalog having been loaded or having failed once, or settleLimit
// having passed. It does not go back for a catalog's sake.
func readiness(serving certs.Source, hook *webhook.Server, contents *store.Store) []check {
	return []check{{"certificate", serving.Ready}, {"server", hook.Ready}, catalogsSettled(contents)}
}

// catalogsSettled is each catalog having been loaded or having failed once, or settleLimit having passed.
func catalogsSettled(contents *store.Store) check {
	started := time.Now()
	settled := func() error {
		select {
		case <-contents.Settled():
			return nil
		default:
		}
		if time.Since(started) > settleLimit {
			return nil
		}
		return errors.New("catalogs are being loaded")
	}
	return check{"catalogs", settled}
}

// addHealth serves /healthz, which depends on nobody else, and /readyz, which says what is missing. The manager's own
// server withholds that.
func addHealth(ctx context.Context, mgr ctrl.Manager, address string, checks []check) error {
	if address == "0" {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("setting up the health probes: %w; choose another address with --health-probe-bind-address", err)
	}
	server := &http.Server{Handler: healthMux(checks), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	// The manager starts servers of this type first of all, before the caches have synced.
	return mgr.Add(&manager.Server{Name: "health probes", Server: server, Listener: listener})
}

func healthMux(checks []check) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		var text strings.Builder
		status := http.StatusOK
		for _, c := range checks {
			if err := c.ready(); err != nil {
				status = http.StatusServiceUnavailable
				fmt.Fprintf(&text, "[-]%s: %s\n", c.name, oneLine(err.Error()))
			} else {
				fmt.Fprintf(&text, "[+]%s: ok\n", c.name)
			}
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprint(w, text.String())
	})
	return mux
}
