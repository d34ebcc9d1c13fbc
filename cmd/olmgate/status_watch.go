package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/catalog/source"
	"github.com/olmgate/olmgate/resolver"
)

// follow prints how it stands, and then each change, until the context or an interrupt ends it.
func (o *statusOptions) follow(ctx context.Context, s streams, names []string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	s.err = &oneAtATime{w: s.err}
	err := o.followUntil(ctx, s, names)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (o *statusOptions) followUntil(ctx context.Context, s streams, names []string) error {
	rule, err := resolver.ParseRule(o.rule)
	if err != nil {
		return err
	}
	_, config, err := o.catalogs.client()
	if err != nil {
		return err
	}
	// What does not work at all is found out first, since the watch would try again for ever.
	if len(names) > 0 {
		if _, err := o.extensions(ctx, s, names); err != nil {
			return err
		}
	}
	if err := tryWatch(ctx, config, "ClusterExtensions", &ocv1.ClusterExtensionList{}); err != nil {
		return err
	}
	if err := tryWatch(ctx, config, "ClusterCatalogs", &ocv1.ClusterCatalogList{}); err != nil {
		return err
	}
	w := &follower{names: names, rule: rule, streams: s, printer: newChangePrinter(s.out, o.output), changed: make(chan struct{}, 1), said: map[string]string{}}
	if err := w.setUp(config, source.Options{URL: o.catalogs.url, Config: config, HTTPOptions: source.HTTPOptions{CA: o.catalogs.ca}}); err != nil {
		return err
	}
	defer w.contents.Close()
	return w.run(ctx)
}

// tryWatch makes sure that a kind can be listed and watched.
func tryWatch(ctx context.Context, config *rest.Config, what string, list client.ObjectList) error {
	c, err := client.NewWithWatch(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return fmt.Errorf("connecting to the cluster at %s: %w", config.Host, err)
	}
	if err := c.List(ctx, list, client.Limit(1)); err != nil {
		return fmt.Errorf("listing the %s at %s: %w", what, config.Host, permitted(clusterProblem(err)))
	}
	w, err := c.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
	if err != nil {
		return fmt.Errorf("watching the %s at %s: %w", what, config.Host, permitted(clusterProblem(err)))
	}
	w.Stop()
	return nil
}

// oneAtATime is a writer for several goroutines.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *oneAtATime) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}
