package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/olmgate/olmgate/config"
)

// serveOptions are the flags of serve. Most override a field of the configuration file.
type serveOptions struct {
	configFile string
	kubeconfig string
	// namespace of olmgate's own Secret and Service.
	namespace string
	// service is the name of the Service that the API server calls.
	service  string
	logLevel string

	// flags are asked which fields of the configuration they override.
	flags *pflag.FlagSet
}

func newServe(s streams) *cobra.Command {
	o := &serveOptions{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the admission webhook",
		Long: strings.TrimSpace(`
Runs the admission webhook for ClusterExtensions. Flags override the configuration file; olmgate config defaults writes
one out. Whatever goes wrong inside olmgate lets an extension through: only a resolution that certainly fails is denied.`),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	o.flags = serveFlags(o)
	cmd.Flags().AddFlagSet(o.flags)
	return cmd
}

// processFlags fill in the options of whatever runs in a cluster; those that override a field of the configuration are
// asked for by name.
func processFlags(o *serveOptions, name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.StringVar(&o.configFile, "config", "", "configuration `FILE` (OlmgateConfiguration)")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `FILE`; without it the in-cluster configuration, or $KUBECONFIG")
	f.StringVar(&o.namespace, "namespace", namespaceDefault(), "`NAMESPACE` that olmgate runs in")
	f.StringVar(&o.logLevel, "log-level", "info", "`LEVEL` of the log: debug, info, warn or error")
	f.String("rule", "", "selection `RULE`: Package or Bundle")
	f.String("metrics-bind-address", "", "`HOST:PORT` of the metrics, 0 for none")
	f.String("health-probe-bind-address", "", "`HOST:PORT` of /healthz and /readyz, 0 for none")
	f.String("cache-dir", "", "`DIR` that keeps compact indexes of catalogs over restarts")
	f.String("catalogd-ca", "", "`PATH` of a PEM file or directory with the CAs that sign catalogd's certificate, read again when it changes")
	f.String("catalogd-url", "", "base `URL` of catalogd, in place of what the ClusterCatalogs say")
	f.StringSlice("catalogd-allowed-hosts", nil, "`HOSTS` that a ClusterCatalog may send olmgate to, and no others")
	f.String("conditions", "", "which `CONDITIONS` are written: own, or full for the plain types too, where nobody else has them")
	f.Float64("status-write-rate", 0, "how many `WRITES` of conditions a second at most")
	return f
}

// serveFlags are processFlags with those of the webhook.
func serveFlags(o *serveOptions) *pflag.FlagSet {
	f := processFlags(o, "serve")
	f.StringVar(&o.service, "service", "olmgate-webhook", "`NAME` of the Service that the API server calls")
	f.Bool("write-status", false, "write conditions into the status of ClusterExtensions too, as olmgate status-writer does")
	f.String("mode", "", "`MODE`: Enforce, or Warn to turn every denial into a warning")
	f.String("webhook-bind-address", "", "`HOST:PORT` of the webhook")
	f.String("cert-source", "", "`SOURCE` of the serving certificate: SelfManaged, CertManager or Files")
	f.Bool("cert-manager-create", false, "make cert-manager's Certificate and a private CA for it, instead of expecting them")
	f.String("tls-cert-file", "", "PEM `FILE` with the serving certificate, for the source Files, which it implies")
	f.String("tls-key-file", "", "PEM `FILE` with the key of --tls-cert-file")
	f.String("client-ca-file", "", "PEM `FILE` with the CAs of clients; others are not let in. Read again when it changes")
	f.StringSlice("client-allowed-names", nil, "`NAMES` of which a client's certificate must have one, as its common name or a DNS name")
	f.StringSlice("exempt-users", nil, "`USERS` that are never judged")
	f.StringSlice("exempt-groups", nil, "`GROUPS` that are never judged")
	return f
}

// namespaceDefault is the namespace of the pod.
func namespaceDefault() string {
	if ns := os.Getenv("POD_NAMESPACE"); ns != "" {
		return ns
	}
	return "olmgate-system"
}

// config is the configuration file with the flags laid over it.
func (o *serveOptions) config() (config.OlmgateConfiguration, error) {
	c, err := loadConfig(o.configFile)
	if err != nil {
		return c, err
	}
	for flag, field := range map[string]*string{
		"rule": &c.Rule, "mode": &c.Mode, "webhook-bind-address": &c.Webhook.BindAddress,
		"metrics-bind-address": &c.Metrics.BindAddress, "health-probe-bind-address": &c.Health.BindAddress,
		"cert-source": &c.Certificates.Source, "tls-cert-file": &c.Certificates.Files.CertFile, "tls-key-file": &c.Certificates.Files.KeyFile,
		"client-ca-file": &c.Webhook.ClientCA.File,
		"conditions":     &c.StatusWriter.Conditions,
		"cache-dir":      &c.CacheDir, "catalogd-ca": &c.Catalogd.CAFile, "catalogd-url": &c.Catalogd.URL,
	} {
		if o.flags.Changed(flag) {
			*field, _ = o.flags.GetString(flag)
		}
	}
	for flag, field := range map[string]*[]string{
		"client-allowed-names": &c.Webhook.ClientCA.AllowedNames, "catalogd-allowed-hosts": &c.Catalogd.AllowedHosts, "exempt-users": &c.Exempt.Users, "exempt-groups": &c.Exempt.Groups,
	} {
		if o.flags.Changed(flag) {
			*field, _ = o.flags.GetStringSlice(flag)
		}
	}
	if o.flags.Changed("write-status") {
		c.StatusWriter.Enabled, _ = o.flags.GetBool("write-status")
	}
	if o.flags.Changed("status-write-rate") {
		c.StatusWriter.WritesPerSecond, _ = o.flags.GetFloat64("status-write-rate")
	}
	if o.flags.Changed("cert-manager-create") {
		c.Certificates.CertManager.Create, _ = o.flags.GetBool("cert-manager-create")
	}
	// A certificate from files has always been chosen by naming them.
	if (o.flags.Changed("tls-cert-file") || o.flags.Changed("tls-key-file")) && c.Certificates.Source != config.SourceFiles {
		if o.flags.Changed("cert-source") || c.Certificates.Source != config.SourceSelfManaged {
			return c, fmt.Errorf("--tls-cert-file and --tls-key-file belong to the source Files, not to %s: leave them out, or choose --cert-source Files", c.Certificates.Source)
		}
		c.Certificates.Source = config.SourceFiles
	}
	if err := c.Validate(knownNames()); err != nil {
		return c, fmt.Errorf("the flags and the configuration file together are not valid: %w", err)
	}
	return c, nil
}
