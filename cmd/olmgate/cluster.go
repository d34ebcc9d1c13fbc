package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/source"
	"github.com/olmgate/olmgate/resolver"
)

// catalogFlags say where catalogs come from: files, or a cluster.
type catalogFlags struct {
	// dir, byHand and snapshots are files, byHand may be images too; without any, the catalogs are those of the cluster.
	dir       string
	byHand    []string
	snapshots []string
	images    imageFlags
	// pull is whether the images of manifests in dir are pulled.
	pull bool
	// url and ca are for reaching catalogd from outside of the cluster.
	url string
	ca  []string

	// orFiles ends the error when there is no cluster; "" when the command has no use for files.
	orFiles string
	cluster *genericclioptions.ConfigFlags
	// flags are asked which of them were given.
	flags *pflag.FlagSet
}

func (f *catalogFlags) add(to *pflag.FlagSet) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.dir, "catalogs", "", "`DIR` with ClusterCatalog manifests and catalog content, instead of a cluster")
	flags.StringArrayVar(&f.byHand, "catalog", nil, "content of one catalog as `NAME=PATH`, a file, directory or image (oci://REF); can be repeated; comes before --catalogs and --snapshot")
	flags.StringArrayVar(&f.snapshots, "snapshot", nil, "`FILE` that olmgate catalog snapshot has written, instead of a cluster; can be repeated; of one catalog in several the last counts")
	addSection(to, "Catalogs", flags)
	flags = pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.BoolVar(&f.pull, "pull", false, "pull the images of ClusterCatalog manifests in --catalogs that have no content there")
	addSection(to, "Images", flags)
	f.images.add(to)
	f.orFiles = "; " + orFiles
	f.addCluster(to)
}

// addCluster adds the flags for a cluster and its catalogs, without those for files.
func (f *catalogFlags) addCluster(to *pflag.FlagSet) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.url, "catalogd-url", "", "base `URL` of catalogd, when the API server's service proxy is not open to you")
	flags.StringArrayVar(&f.ca, "catalogd-ca", nil, "`PATH` of a PEM file or directory with the CAs that sign catalogd's certificate; with --catalogd-url")
	addSection(to, "Catalogs", flags)

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
	cluster := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.cluster.AddFlags(cluster)
	for name, text := range map[string]string{
		"as":                       "`USER` to act as",
		"certificate-authority":    "PEM `FILE` with the CA of the API server",
		"cluster":                  "`NAME` of the cluster in the kubeconfig",
		"context":                  "`NAME` of the context in the kubeconfig",
		"insecure-skip-tls-verify": "do not check the API server's certificate: whoever is in between can read and change everything",
		"kubeconfig":               "kubeconfig `FILE`; without it $KUBECONFIG, then ~/.kube/config",
		"request-timeout":          "longest `TIME` to wait for one answer of the API server, such as 30s; 0 for no limit",
		"server":                   "`URL` of the API server",
		"token":                    "bearer `TOKEN` for the API server",
	} {
		cluster.Lookup(name).Usage = text
	}
	addSection(to, "Cluster", cluster)
	f.flags = to
}

// check refuses flags that would have no effect, or another one than their user thinks.
func (f *catalogFlags) check() error {
	switch {
	case f.flags.Changed("catalogs") && f.dir == "":
		return errors.New(`--catalogs "" names no directory`)
	case f.dir != "":
		if info, err := os.Stat(f.dir); err != nil {
			return unreadable(f.dir, err)
		} else if !info.IsDir() {
			return fmt.Errorf("--catalogs %s is a file, not a directory: give the content of one catalog by --catalog NAME=%s", f.dir, f.dir)
		}
	}
	switch {
	case f.url != "" && f.offline():
		return errors.New("--catalogd-url is for the catalogs of a cluster, and --catalogs, --catalog and --snapshot take them from files: leave one out")
	case len(f.ca) > 0 && f.url == "":
		return errors.New("--catalogd-ca belongs to --catalogd-url: the API server's service proxy has no use for it")
	case f.pull && f.dir == "":
		return errors.New("--pull is for the manifests in --catalogs: give that too")
	case f.images.offline && !f.offline():
		return errors.New("--offline, and nothing to take catalogs from but a cluster: give files by --catalogs, --catalog or --snapshot")
	}
	return f.images.check()
}

// offline reports whether the catalogs come from files.
func (f *catalogFlags) offline() bool { return f.dir != "" || len(f.byHand)+len(f.snapshots) > 0 }

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := ocv1.AddToScheme(scheme); err != nil {
		panic(err) // cannot be: the types are compiled in
	}
	return scheme
}

const orFiles = "for an answer without a cluster, give catalog files with --catalogs and extensions with -f"

// client connects to the cluster that the flags name.
func (f *catalogFlags) client() (client.Client, *rest.Config, error) {
	if f.images.offline {
		return nil, nil, errors.New("--offline forbids to ask a cluster: give extensions by -f, or leave it out")
	}
	loader := f.cluster.ToRawKubeConfigLoader()
	config, err := loader.ClientConfig()
	if raw, rawErr := loader.RawConfig(); err == nil && rawErr == nil && api.IsConfigEmpty(&raw) && *f.cluster.APIServer == "" && config.Host == noCluster {
		return nil, nil, errors.New("no cluster to ask: there is no kubeconfig; name one with --kubeconfig or $KUBECONFIG" + f.orFiles)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("no cluster to ask: %w; name a kubeconfig with --kubeconfig%s", err, f.orFiles)
	}
	config.QPS = -1
	c, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to the cluster at %s: %w%s", config.Host, err, f.orFiles)
	}
	return c, config, nil
}

// noCluster is where client-go looks for an API server when it knows of none.
const noCluster = "http://localhost:8080"

// clusterProblem adds what to do to an error of the API server.
func clusterProblem(err error) error {
	switch {
	case apimeta.IsNoMatchError(err):
		return fmt.Errorf("%w: OLM v1 is not installed there", err)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w; kubectl get clusterextensions lists what is there", err)
	case apierrors.ReasonForError(err) == metav1.StatusReasonUnknown:
		return fmt.Errorf("%w; %s", err, orFiles)
	}
	return err
}

// load reads the catalogs, each once.
func (f *catalogFlags) load(ctx context.Context, s streams) ([]resolver.Catalog, error) {
	found, err := f.gather(ctx, s)
	if err != nil {
		return nil, err
	}
	list := make([]resolver.Catalog, len(found))
	for i := range found {
		list[i] = found[i].catalog
	}
	return list, nil
}

// gathered is a catalog with the object that describes it.
type gathered struct {
	cc      *ocv1.ClusterCatalog
	catalog resolver.Catalog
}

// gather reads the catalogs by name, each once.
func (f *catalogFlags) gather(ctx context.Context, s streams) ([]gathered, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.offline() {
		return f.gatherFiles(ctx, s)
	}
	return f.gatherCluster(ctx)
}

func (f *catalogFlags) gatherCluster(ctx context.Context) ([]gathered, error) {
	c, config, err := f.client()
	if err != nil {
		return nil, err
	}
	var found ocv1.ClusterCatalogList
	if err := c.List(ctx, &found); err != nil {
		return nil, fmt.Errorf("listing the ClusterCatalogs at %s: %w", config.Host, clusterProblem(err))
	}
	from, err := source.Pick(source.Options{URL: f.url, Config: config, HTTPOptions: source.HTTPOptions{CA: f.ca}})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found.Items, func(a, b ocv1.ClusterCatalog) int { return strings.Compare(a.Name, b.Name) })
	list := make([]gathered, len(found.Items))
	var group errgroup.Group
	group.SetLimit(2)
	for i := range found.Items {
		cc := &found.Items[i]
		group.Go(func() error {
			list[i] = gathered{cc, resolver.NewCatalog(cc, fetch(ctx, from, cc))}
			return nil
		})
	}
	return list, group.Wait()
}

// notAvailable is why a catalog that is switched off has no content.
const notAvailable = "it is not available"

// fetch brings the content of one catalog; a failure is an answer too.
func fetch(ctx context.Context, from source.Fetcher, cc *ocv1.ClusterCatalog) catalog.Content {
	if cc.Spec.AvailabilityMode == ocv1.AvailabilityModeUnavailable || cc.DeletionTimestamp != nil {
		return catalog.Content{Problem: notAvailable}
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
