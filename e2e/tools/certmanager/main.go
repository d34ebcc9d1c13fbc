// Command cert-manager runs cert-manager's controllers and its cainjector in one
// process, linked from the public packages of the release that go.mod pins. It is
// not the released program: there is no validating webhook, and no issuer but
// "ca" and "selfSigned".
//
//	cert-manager -kubeconfig FILE [-namespace NAMESPACE]
//
// It ends with an error when a part of it ends before it is told to.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	crlog "sigs.k8s.io/controller-runtime/pkg/log"

	logf "github.com/cert-manager/cert-manager/pkg/logs"
)

func main() {
	// Not the set of package flag: libraries put flags of the same names there.
	flags := flag.NewFlagSet("cert-manager", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig with the rights of cert-manager")
	namespace := flags.String("namespace", "cert-manager", "namespace of the Secrets that ClusterIssuers name")
	_ = flags.Parse(os.Args[1:]) // it ends the program when it fails
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	crlog.SetLogger(logf.Log)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *kubeconfig, *namespace)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cert-manager:", err)
		os.Exit(1)
	}
}

// run starts both parts and waits for the end of either.
func run(ctx context.Context, kubeconfig, namespace string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 2)
	go func() { ended <- runControllers(ctx, kubeconfig, namespace) }()
	go func() { ended <- runInjector(ctx, kubeconfig) }()
	first := <-ended
	cancel()
	second := <-ended
	if first != nil {
		return first
	}
	return second
}
