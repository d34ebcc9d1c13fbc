package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// serve answers until it is killed. Manifests live in memory: after a restart
// every image has to be pushed again.
func serve(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	addr := flags.String("addr", "127.0.0.1:5000", "address to listen on")
	dir := flags.String("dir", "", "keep blobs in this folder instead of memory")
	cert := flags.String("cert", "", "certificate file; without it the registry speaks plain HTTP")
	key := flags.String("key", "", "key file of the certificate")
	flags.Parse(args)

	options := []registry.Option{registry.Logger(log.New(os.Stderr, "", log.LstdFlags|log.Lmicroseconds))}
	if *dir != "" {
		if err := os.MkdirAll(*dir, 0o755); err != nil {
			return fmt.Errorf("making the blob folder: %w", err)
		}
		options = append(options, registry.WithBlobHandler(registry.NewDiskBlobHandler(*dir)))
	}
	server := &http.Server{Addr: *addr, Handler: registry.New(options...), ReadHeaderTimeout: 10 * time.Second}
	if *cert != "" {
		return server.ListenAndServeTLS(*cert, *key)
	}
	return server.ListenAndServe()
}
