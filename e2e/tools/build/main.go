// Command build makes the programs the end-to-end tests run against, once, and
// prints the folder that holds them.
//
//	go run ./e2e/tools/build [-out DIR] [PROGRAM...]
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
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *out, flag.Args())
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
