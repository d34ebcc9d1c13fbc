// Command build makes the programs the end-to-end tests run against, once, and
// prints the folder that holds them.
//
//	go run ./e2e/tools/build [-out DIR] [PROGRAM...]
//	go run ./e2e/tools/build -node
//
// With -node it makes what a node needs, fetches its Debian packages too, and
// prints the folders of both.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/olmgate/olmgate/e2e/tools"
)

func main() {
	out := flag.String("out", "", "also copy the programs into this folder, and print it instead")
	node := flag.Bool("node", false, "build and fetch what a node that runs Pods needs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	names := flag.Args()
	if *node {
		names = append(names, tools.NodePrograms...)
	}
	err := run(ctx, *out, names)
	if err == nil && *node {
		err = fetch(ctx)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out string, names []string) error {
	dir, err := tools.Ensure(ctx, os.Stderr, names...)
	if err != nil {
		return err
	}
	if out != "" {
		if err := tools.CopyTo(dir, out); err != nil {
			return err
		}
		dir = out
	}
	fmt.Println(dir)
	return nil
}

func fetch(ctx context.Context) error {
	dir, err := tools.EnsurePackages(ctx, os.Stderr)
	if err == nil {
		fmt.Println(dir)
	}
	return err
}
