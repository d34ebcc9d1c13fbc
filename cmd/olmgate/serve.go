package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/source"
	"github.com/olmgate/olmgate/catalog/store"
	"github.com/olmgate/olmgate/certs"
	"github.com/olmgate/olmgate/config"
	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/webhook"
)

// settleLimit is how long readiness waits for catalogs after the start. A catalog that does not load must not keep the
// webhook away: without its content the answers are warnings.
const settleLimit = 30 * time.Second

func (o *serveOptions) run(ctx context.Context, s streams) error {
	conf, err := o.config()
	if err != nil {
		return err
	}
	log, err := newLogger(s, o.logLevel)
	if err != nil {
		return err
	}
	webhook.PaceGC()
	kube, err := restConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	mgr, err := newManager(kube, conf)
	if err != nil {
		return err
	}
	contents, err := followCatalogs(mgr, conf, log)
	if err != nil {
		return err
	}
	defer contents.Close()
	serving, err := newCertificates(kube, o, conf, log)
	if err != nil {
		return err
	}
	clients, err := newClients(conf, log)
	if err != nil {
		return err
	}
	hook, err := newWebhook(mgr, conf, contents, serving, clients, log)
	if err != nil {
		return err
	}
	runnables := []manager.Runnable{serving, hook}
	if conf.StatusWriter.Enabled {
		leader, err := newStatusLeader(kube, o.namespace, conf, contents, log)
		if err != nil {
			return err
		}
		runnables = append(runnables, leader)
	}
	if clients != nil {
		runnables = append(runnables, clients)
	}
	for _, r := range runnables {
		if err := mgr.Add(r); err != nil {
			return fmt.Errorf("setting up the server: %w", err)
		}
	}
	if err := addHealth(ctx, mgr, conf.Health.BindAddress, readiness(serving, hook, contents)); err != nil {
		return err
	}
	log.Info("starting", "version", versionText(), "rule", conf.Rule, "mode", conf.Mode, "address", conf.Webhook.BindAddress,
		"writeStatus", conf.StatusWriter.Enabled)
	return runUntilSignal(ctx, mgr, log)
}

// runUntilSignal runs a manager. After the first signal what is under way is finished; a second one ends the process at
// once.
func runUntilSignal(ctx context.Context, mgr ctrl.Manager, log *slog.Logger) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running: %w", err)
	}
	log.Info("stopped")
	return nil
}

// newLogger writes JSON lines, those of the libraries included.
func newLogger(s streams, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("unknown --log-level %q: it is debug, info, warn or error", level)
	}
	log := slog.New(slog.NewJSONHandler(s.err, &slog.HandlerOptions{Level: l}))
	slog.SetDefault(log)
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	klog.SetLogger(logr.FromSlogHandler(log.Handler()))
	return log, nil
}

func restConfig(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	kube, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w; outside of a cluster name a kubeconfig with --kubeconfig", err)
	}
	kube.QPS = -1 // a burst of denials must not wait for a client-side limit; the API server has its own
	kube.UserAgent = "olmgate/" + versionText()
	return kube, nil
}

func newManager(kube *rest.Config, conf config.OlmgateConfiguration) (ctrl.Manager, error) {
	scheme := newScheme()
	mgr, err := ctrl.NewManager(kube, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                server.Options{BindAddress: conf.Metrics.BindAddress},
		HealthProbeBindAddress: "0",   // addHealth says more
		LeaderElection:         false, // every replica answers from its own memory
		Cache: cache.Options{
			ByObject:         map[client.Object]cache.ByObject{&ocv1.ClusterCatalog{}: {}},
			DefaultTransform: cache.TransformStripManagedFields(),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("setting up the manager for %s: %w", kube.Host, err)
	}
	return mgr, nil
}

// limits are the configured limits of what is read from a catalog. The configuration has been validated.
func limits(conf config.OlmgateConfiguration) (catalog.Limits, error) {
	l := catalog.Limits{Blobs: conf.Limits.Blobs, Files: conf.Limits.Files}
	for _, f := range []struct {
		from config.Size
		to   *int64
	}{{conf.Limits.Blob, &l.BlobBytes}, {conf.Limits.Catalog, &l.TotalBytes}, {conf.Limits.Index, &l.IndexBytes}} {
		n, err := f.from.Bytes()
		if err != nil {
			return l, fmt.Errorf("reading the limits: %w", err)
		}
		*f.to = n
	}
	return l, nil
}

// followCatalogs keeps the content of the manager's ClusterCatalogs, with metrics of them.
func followCatalogs(mgr ctrl.Manager, conf config.OlmgateConfiguration, log *slog.Logger) (*store.Store, error) {
	contents, err := newStore(conf, log)
	if err != nil {
		return nil, err
	}
	if err := contents.SetupWithManager(mgr); err != nil {
		return nil, fmt.Errorf("setting up the watch of ClusterCatalogs: %w", err)
	}
	if err := webhook.RegisterCatalogMetrics(crmetrics.Registry, func() []webhook.CatalogState { return states(contents) }, time.Now); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	return contents, nil
}

func newStore(conf config.OlmgateConfiguration, log *slog.Logger) (*store.Store, error) {
	l, err := limits(conf)
	if err != nil {
		return nil, err
	}
	options := source.HTTPOptions{Hosts: conf.Catalogd.AllowedHosts, Limits: l}
	if conf.Catalogd.CAFile != "" {
		options.CA = []string{conf.Catalogd.CAFile}
	}
	fetcher, err := source.Pick(source.Options{HTTPOptions: options, URL: conf.Catalogd.URL, InCluster: true})
	if err != nil {
		return nil, fmt.Errorf("setting up the way to catalogd: %w", err)
	}
	return store.New(store.Options{
		Fetcher:  fetcher,
		CacheDir: conf.CacheDir,
		Limits:   l,
		Log:      logr.FromSlogHandler(log.Handler()),
	}), nil
}

func newWebhook(mgr ctrl.Manager, conf config.OlmgateConfiguration, contents *store.Store, serving certs.Source, clients *certs.Clients, log *slog.Logger) (*webhook.Server, error) {
	metrics, err := webhook.NewMetrics(crmetrics.Registry)
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	if err := webhook.RegisterCertificateMetrics(crmetrics.Registry, func() webhook.CertificateState { return certificateState(serving) }); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	rule, err := resolver.ParseRule(conf.Rule)
	if err != nil {
		return nil, err
	}
	mode, err := webhook.ParseMode(conf.Mode)
	if err != nil {
		return nil, err
	}
	policy, err := webhook.NewPolicy(conf.Policy.Reasons, conf.Policy.Undecided, conf.Policy.Notes)
	if err != nil {
		return nil, err
	}
	handler, err := webhook.NewHandler(webhook.Options{
		Cached:     mgr.GetCache(),
		Fresh:      mgr.GetAPIReader(),
		Content:    contents.Content,
		Rule:       rule,
		Mode:       mode,
		Policy:     policy,
		Exempt:     webhook.Exemptions{Users: conf.Exempt.Users, Groups: conf.Exempt.Groups},
		BreakGlass: webhook.BreakGlass{Group: conf.BreakGlass.Group, Annotation: conf.BreakGlass.Annotation},
		Log:        log,
		Metrics:    metrics,
	})
	if err != nil {
		return nil, fmt.Errorf("setting up the webhook: %w", err)
	}
	minTLS := uint16(tls.VersionTLS13)
	if conf.Webhook.MinTLSVersion == "1.2" {
		minTLS = tls.VersionTLS12
	}
	server := &webhook.Server{
		Address:        conf.Webhook.BindAddress,
		Handler:        webhook.NewMux(&webhook.Endpoint{Handler: handler, Metrics: metrics, Log: log}),
		GetCertificate: serving.GetCertificate,
		MinTLSVersion:  minTLS,
		Log:            log,
	}
	if clients != nil {
		server.ConfigureTLS = clients.Require
	}
	return server, nil
}

// phaseLabels are the phases as the metrics name them.
var phaseLabels = map[store.Phase]string{
	store.Current: "current", store.Outdated: "outdated", store.Loading: "loading", store.Failed: "failed", store.NotServing: "notServing",
}

// states are the contents as the metrics show them.
func states(contents *store.Store) []webhook.CatalogState {
	var list []webhook.CatalogState
	for _, s := range contents.States() {
		list = append(list, webhook.CatalogState{Name: s.Name, State: phaseLabels[s.Phase], Loaded: s.Loaded, Packages: s.Packages, Bundles: s.Bundles})
	}
	return list
}
