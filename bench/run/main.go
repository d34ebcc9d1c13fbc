// Command bench measures olmgate against peers in the same run, on real catalogs, and writes bench/results.json.
//
//	go run ./run -olmgate ../bin/olmgate [-catalogs DIR] [-only load,snapshot,resolve,check,memory,admission,status]
//
// It is a module of its own, so that the product does not depend on the peers.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/sandbox"
)

// bigFour are the catalogs that a cluster with everything has.
var bigFour = []string{"operatorhubio", "community", "certified", "rhmp"}

type bench struct {
	binary   string
	catalogs string
	out      string
	only     []string
	results  []result
}

func main() {
	ctrl.SetLogger(logr.Discard()) // the clients'
	if len(os.Args) > 1 {
		if child, ok := children[os.Args[1]]; ok {
			exit(child(os.Args[2:]))
		}
	}
	b := &bench{}
	var only string
	flag.StringVar(&b.binary, "olmgate", "../bin/olmgate", "the olmgate binary")
	flag.StringVar(&b.catalogs, "catalogs", defaultCatalogs(), "folder of the real catalogs, NAME.jsonl.zst")
	flag.StringVar(&b.out, "out", "results.json", "file for the results")
	flag.StringVar(&only, "only", "load,snapshot,resolve,check,memory,admission,status", "what to measure")
	flag.Parse()
	b.only = strings.Split(only, ",")
	if _, err := os.Stat(b.path(bigFour[0])); err != nil {
		fmt.Printf("nothing measured: the real catalogs are not here (%v); name their folder with -catalogs or OLMGATE_CATALOGS\n", err)
		return
	}
	config := sandbox.Config{Hosts: cluster.Hosts(), Prepare: func() error {
		return cluster.Prepare(context.Background(), os.Stderr, true)
	}}
	code, err := sandbox.Run(config, func() int {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if err := b.run(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			return 1
		}
		return 0
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		code = 1
	}
	os.Exit(code)
}

// children are what the program runs as processes of its own, so that each measurement starts afresh.
var children = map[string]func(args []string) error{"child-load": childLoad, "child-open": childOpen, "child-fire": childFire}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func defaultCatalogs() string {
	if dir := os.Getenv("OLMGATE_CATALOGS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "shared", "catalogs")
}

func (b *bench) path(name string) string { return filepath.Join(b.catalogs, name+".jsonl.zst") }

func (b *bench) wants(what string) bool { return slices.Contains(b.only, what) }

func (b *bench) run(ctx context.Context) error {
	for _, m := range []struct {
		name    string
		measure func(context.Context) error
	}{{"load", b.load}, {"snapshot", b.snapshot}, {"resolve", b.resolve}, {"check", b.check}} {
		if b.wants(m.name) {
			fmt.Fprintf(os.Stderr, "measuring %s\n", m.name)
			if err := m.measure(ctx); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	if b.wants("memory") || b.wants("admission") || b.wants("status") {
		if err := b.onCluster(ctx); err != nil {
			return err
		}
	}
	return b.report()
}
