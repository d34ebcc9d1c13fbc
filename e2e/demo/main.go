// Command demo shows olmgate at work on a real API server and a real catalogd:
// it applies good and bad ClusterExtensions and prints what the API server says.
//
//	go run ./e2e/demo [-olmgate BINARY] [-manifests DIR] [-keep]
//
// With -keep the cluster stays up, for kubectl from any shell, until Ctrl-C. The
// exit code is 0 when every answer was the expected one.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/sandbox"
)

func main() {
	d := &demo{out: os.Stdout}
	flag.StringVar(&d.binary, "olmgate", "", "the olmgate binary (default: build ./cmd/olmgate)")
	flag.StringVar(&d.manifests, "manifests", "", "the kustomization to apply (default: manifests/overlays/enforce)")
	flag.BoolVar(&d.keep, "keep", false, "keep the cluster running until Ctrl-C")
	flag.Parse()

	config := sandbox.Config{
		Hosts:   cluster.Hosts(),
		Forward: []string{apiSocket},
		Prepare: d.prepare,
	}
	code, err := sandbox.Run(config, d.main)
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		code = 1
	}
	os.Exit(code)
}

// main runs inside the sandbox and returns the exit code.
func (d *demo) main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := d.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	}
	return 0
}
