package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/source"
	"github.com/olmgate/olmgate/resolver"
)

// catalogFlags say where catalogs come from: files, or a cluster.
type catalogFlags struct {
	// dir and byHand are files; without any, the catalogs are those of the cluster.
	dir    string
	byHand []string
	// url and ca are for reaching catalogd from outside of the cluster.
	url string
	ca  []string

	cluster *genericclioptions.ConfigFlags
}

func (f *catalogFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "catalogs", "", "directory with ClusterCatalog manifests and catalog content, instead of a cluster")
	flags.StringArrayVar(&f.byHand, "catalog", nil, "content of one catalog as `NAME=PATH`, a file or directory; can be repeated")
	flags.StringVar(&f.url, "catalogd-url", "", "base URL of catalogd, when the API server's service proxy is not open to you")
	flags.StringArrayVar(&f.ca, "catalogd-ca", nil, "PEM file or directory of CAs that sign catalogd's certificate; for --catalogd-url")
	f.cluster = &genericclioptions.ConfigFlags{
		KubeConfig:  new(string),
		Context:     new(string),
		ClusterName: new(string),
		APIServer:   new(string),
		BearerToken: new(string),
		Impersonate: new(string),
		CAFile:      new(string),
		Insecure:    new(bool),
		Timeout:     new(string),
	}
	f.cluster.AddFlags(flags)
}

// offline reports whether the catalogs come from files.
func (f *catalogFlags) offline() bool { return f.dir != "" || len(f.byHand) > 0 }

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := ocv1.AddToScheme(scheme); err != nil {
		panic(err) // cannot be: the types are compiled in
	}
	return scheme
}

// client connects to the cluster that the flags name.
func (f *catalogFlags) client() (client.Client, *rest.Config, error) {
	config, err := f.cluster.ToRESTConfig()
	if err != nil {
		return nil, nil, fmt.Errorf("no cluster to ask: %w; name a kubeconfig with --kubeconfig, or catalog files with --catalogs", err)
	}
	config.QPS = -1
	c, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to the cluster at %s: %w; for an answer without a cluster, name catalog files with --catalogs", config.Host, err)
	}
	return c, config, nil
}

// load reads the catalogs, each once.
func (f *catalogFlags) load(ctx context.Context) ([]resolver.Catalog, error) {
	if f.offline() {
		return f.loadFiles()
	}
	return f.loadCluster(ctx)
}

func (f *catalogFlags) loadFiles() ([]resolver.Catalog, error) {
	var byHand []source.ByHand
	for _, text := range f.byHand {
		one, err := source.ParseByHand(text)
		if err != nil {
			return nil, err
		}
		byHand = append(byHand, one)
	}
	found, err := source.Discover(f.dir, byHand...)
	if err != nil {
		return nil, err
	}
	list := make([]resolver.Catalog, len(found))
	var group errgroup.Group
	group.SetLimit(2)
	for i, o := range found {
		group.Go(func() error {
			content := catalog.Content{Problem: "there is no content file or directory for it"}
			if o.Path != "" {
				index, err := o.Load(catalog.Limits{})
				if err != nil {
					return fmt.Errorf("catalog %s: %w", o.Catalog.Name, err)
				}
				content = catalog.Content{Index: index}
			}
			list[i] = resolver.NewOfflineCatalog(o.Catalog, content)
			return nil
		})
	}
	return list, group.Wait()
}

func (f *catalogFlags) loadCluster(ctx context.Context) ([]resolver.Catalog, error) {
	c, config, err := f.client()
	if err != nil {
		return nil, err
	}
	var found ocv1.ClusterCatalogList
	if err := c.List(ctx, &found); err != nil {
		return nil, fmt.Errorf("listing the ClusterCatalogs at %s: %w", config.Host, err)
	}
	from, err := source.Pick(source.Options{URL: f.url, Config: config, HTTPOptions: source.HTTPOptions{CA: f.ca}})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found.Items, func(a, b ocv1.ClusterCatalog) int { return strings.Compare(a.Name, b.Name) })
	list := make([]resolver.Catalog, len(found.Items))
	var group errgroup.Group
	group.SetLimit(2)
	for i := range found.Items {
		cc := &found.Items[i]
		group.Go(func() error {
			list[i] = resolver.NewCatalog(cc, fetch(ctx, from, cc))
			return nil
		})
	}
	return list, group.Wait()
}

// fetch brings the content of one catalog; a failure is an answer too.
func fetch(ctx context.Context, from source.Fetcher, cc *ocv1.ClusterCatalog) catalog.Content {
	if cc.Spec.AvailabilityMode == ocv1.AvailabilityModeUnavailable || cc.DeletionTimestamp != nil {
		return catalog.Content{Problem: "it is not available"}
	}
	if cc.Status.URLs == nil || cc.Status.URLs.Base == "" {
		return catalog.Content{Problem: "it has not been unpacked yet"}
	}
	index, err := from.Fetch(ctx, cc)
	if err != nil {
		return catalog.Content{Problem: "its content could not be fetched: " + err.Error()}
	}
	return catalog.Content{Index: index}
}
