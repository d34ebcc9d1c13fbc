package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/olmgate/olmgate/catalog/store"
	"github.com/olmgate/olmgate/config"
	"github.com/olmgate/olmgate/resolver"
	writer "github.com/olmgate/olmgate/status"
)

func newStatusWriter(s streams) *cobra.Command {
	o := &serveOptions{}
	cmd := &cobra.Command{
		Use:   "status-writer",
		Short: "Write what ClusterExtensions resolve to into their status",
		Long: strings.TrimSpace(`
Watches ClusterExtensions and ClusterCatalogs, and writes into the status of each extension what it resolves to, why not,
what is newer, and what is deprecated. Several replicas elect a leader, which alone writes. Flags override the
configuration file; olmgate config defaults writes one out.`),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.writeStatus(cmd.Context(), s) },
	}
	o.flags = processFlags(o, "status-writer")
	cmd.Flags().AddFlagSet(o.flags)
	return cmd
}

func (o *serveOptions) writeStatus(ctx context.Context, s streams) error {
	conf, err := o.config()
	if err != nil {
		return err
	}
	log, err := newLogger(s, o.logLevel)
	if err != nil {
		return err
	}
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
	leader, err := newStatusLeader(kube, o.namespace, conf, contents, log)
	if err != nil {
		return err
	}
	if err := mgr.Add(leader); err != nil {
		return fmt.Errorf("setting up the status writer: %w", err)
	}
	if err := addHealth(ctx, mgr, conf.Health.BindAddress, []check{catalogsSettled(contents)}); err != nil {
		return err
	}
	log.Info("starting", "version", versionText(), "rule", conf.Rule, "conditions", conf.StatusWriter.Conditions,
		"writesPerSecond", conf.StatusWriter.WritesPerSecond)
	return runUntilSignal(ctx, mgr, log)
}

// newStatusLeader writes status whenever this process is the leader.
func newStatusLeader(kube *rest.Config, namespace string, conf config.OlmgateConfiguration, contents *store.Store, log *slog.Logger) (*writer.Leader, error) {
	rule, err := resolver.ParseRule(conf.Rule)
	if err != nil {
		return nil, err
	}
	profile, err := writer.ParseProfile(conf.StatusWriter.Conditions)
	if err != nil {
		return nil, err
	}
	metrics, err := writer.NewMetrics(crmetrics.Registry)
	if err != nil {
		return nil, err
	}
	return &writer.Leader{
		Kube:      kube,
		Scheme:    newScheme(),
		Namespace: namespace,
		Options: writer.Options{
			Contents:        contents,
			Rule:            rule,
			Profile:         profile,
			WritesPerSecond: conf.StatusWriter.WritesPerSecond,
			SettleLimit:     settleLimit,
			Metrics:         metrics,
			Log:             log,
		},
	}, nil
}
