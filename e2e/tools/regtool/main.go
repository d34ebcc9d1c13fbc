// Command regtool runs a local OCI registry and puts catalog images into it.
//
//	regtool serve  -addr HOST:PORT [-dir DIR] [-cert FILE -key FILE]
//	regtool push   -ref IMAGE -file CATALOG [-ca FILE] [-path PATH] [-label VALUE]
//	regtool digest -ref IMAGE [-ca FILE]
//
// push takes a catalog file as it is, or compressed with gzip (.gz) or zstd
// (.zst), and prints the digest of the image.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "regtool:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	verbs := map[string]func([]string) error{"serve": serve, "push": push, "digest": digest}
	if len(args) == 0 || verbs[args[0]] == nil {
		return fmt.Errorf("say what to do: serve, push or digest")
	}
	return verbs[args[0]](args[1:])
}
