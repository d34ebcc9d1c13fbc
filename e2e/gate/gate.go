// Package gate runs the olmgate binary as the webhook of a cluster, with the
// project's own manifests around it.
package gate

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/olmgate/olmgate/e2e/cluster"
)

// Names in olmgate's manifests.
const (
	Namespace     = "olmgate-system"
	Service       = "olmgate-webhook"
	Configuration = "olmgate"
	WebhookName   = "clusterextensions.olmgate.dev"
)

// Ports the process listens on, whatever the manifests let a pod listen on.
const (
	webhookPort = 9443
	metricsPort = 8080
	healthPort  = 8081
)

// stopGrace is the grace period of the Deployment.
const stopGrace = 40 * time.Second

// Options describe the webhook to start.
type Options struct {
	// Binary is the olmgate program; empty: the one that Build made.
	Binary string
	// Manifests is a kustomization to apply first; empty: none.
	Manifests string
	// IP the process listens on; empty: cluster.WebhookAddress.
	IP string
	// Name of the process and its log; empty: "olmgate".
	Name string
	// Kubeconfig is as whom, and by which way, it asks the API server; empty: its ServiceAccount, directly.
	Kubeconfig string
	// Args are added to the command line.
	Args []string
	// Beside leaves the endpoints of the Service as they are: the process runs beside the one that they lead to.
	Beside bool
}

// Gate is a running webhook.
type Gate struct {
	// Process of the binary.
	Process *cluster.Process
	// MetricsURL and HealthURL are where it can be observed, without a path.
	MetricsURL, HealthURL string

	cluster *cluster.Cluster
}

// Start applies the manifests, starts olmgate as its ServiceAccount, puts it
// behind its Service and returns once the API server gets answers from it.
func Start(ctx context.Context, c *cluster.Cluster, options Options) (*Gate, error) {
	if options.IP == "" {
		options.IP = cluster.WebhookAddress
	}
	if options.Name == "" {
		options.Name = "olmgate"
	}
	if options.Binary == "" {
		options.Binary = os.Getenv(binaryEnv)
	}
	if options.Manifests != "" {
		if _, _, err := c.Kubectl(ctx, nil, "apply", "--server-side", "-k", options.Manifests); err != nil {
			return nil, fmt.Errorf("applying olmgate's manifests: %w", err)
		}
	}
	account, err := serviceAccount(ctx, c, webhookDeployment)
	if err != nil {
		return nil, err
	}
	if !options.Beside {
		if err := Expose(ctx, c, options.IP); err != nil {
			return nil, err
		}
	}
	g, err := run(ctx, c, account, options, "serve", fmt.Sprintf("--webhook-bind-address=%s:%d", options.IP, webhookPort))
	if err != nil {
		return nil, fmt.Errorf("running olmgate: %w", err)
	}
	if err := g.WaitAnswering(ctx); err != nil {
		g.Process.Kill()
		return nil, err
	}
	return g, nil
}

// StartWriter starts olmgate status-writer as its ServiceAccount, once the manifests with it have been applied, and returns
// when it is ready, which does not mean that it leads.
func StartWriter(ctx context.Context, c *cluster.Cluster, options Options) (*Gate, error) {
	if options.Binary == "" {
		options.Binary = os.Getenv(binaryEnv)
	}
	account, err := serviceAccount(ctx, c, writerDeployment)
	if err != nil {
		return nil, err
	}
	g, err := run(ctx, c, account, options, "status-writer")
	if err != nil {
		return nil, fmt.Errorf("running olmgate status-writer: %w", err)
	}
	return g, nil
}

// Metrics is what its /metrics says.
func (g *Gate) Metrics(ctx context.Context) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.MetricsURL+"/metrics", nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// Stop ends the process as a deleted pod's is ended, and reports whether it went by itself. The Service goes on leading
// to its address.
func (g *Gate) Stop() bool { return g.Process.Terminate(stopGrace) }

// Expose makes the Service lead to the processes at these addresses.
func Expose(ctx context.Context, c *cluster.Cluster, ips ...string) error {
	account, err := serviceAccount(ctx, c, webhookDeployment)
	if err != nil {
		return err
	}
	names, _, err := c.Kubectl(ctx, nil, "get", "service", Service, "--namespace="+Namespace,
		"-o", `jsonpath={range .spec.ports[*]}{.name}={.port}{"\n"}{end}`)
	if err != nil {
		return fmt.Errorf("reading olmgate's Service: %w", err)
	}
	ports := map[string]int32{}
	for _, line := range strings.Fields(names) {
		name, port, _ := strings.Cut(line, "=")
		ports[name] = metricsPort
		if port == "443" {
			ports[name] = webhookPort
		}
	}
	return c.Expose(ctx, cluster.Exposure{
		Namespace: Namespace, Service: Service, IPs: ips, Ports: ports, ServiceAccount: account,
	})
}

// Deployments of olmgate.
const (
	webhookDeployment = "olmgate"
	writerDeployment  = "olmgate-status-writer"
)

// serviceAccount asks a Deployment as whom its pods run.
func serviceAccount(ctx context.Context, c *cluster.Cluster, deployment string) (string, error) {
	account, _, err := c.Kubectl(ctx, nil, "get", "deployment", deployment, "--namespace="+Namespace,
		"-o", "jsonpath={.spec.template.spec.serviceAccountName}")
	if err != nil {
		return "", fmt.Errorf("reading the Deployment %s: %w", deployment, err)
	}
	return strings.TrimSpace(account), nil
}

// run starts a command of olmgate with the flags that every one needs here.
func run(ctx context.Context, c *cluster.Cluster, account string, options Options, command ...string) (*Gate, error) {
	kubeconfig := options.Kubeconfig
	if kubeconfig == "" {
		var err error
		if kubeconfig, err = c.ServiceAccountKubeconfig(ctx, Namespace, account); err != nil {
			return nil, err
		}
	}
	var err error
	g := &Gate{
		MetricsURL: fmt.Sprintf("http://%s:%d", options.IP, metricsPort),
		HealthURL:  fmt.Sprintf("http://%s:%d", options.IP, healthPort),
		cluster:    c,
	}
	g.Process, err = c.StartProcess(ctx, cluster.ProcessSpec{
		Name: options.Name,
		Path: options.Binary,
		Args: slices.Concat(command, []string{
			"--kubeconfig=" + kubeconfig,
			"--namespace=" + Namespace,
			fmt.Sprintf("--metrics-bind-address=%s:%d", options.IP, metricsPort),
			fmt.Sprintf("--health-probe-bind-address=%s:%d", options.IP, healthPort),
			"--catalogd-ca=" + c.CAFile,
			"--cache-dir=" + filepath.Join(c.Dir, "cache-"+options.Name),
		}, options.Args),
		Ready: cluster.URLReady(http.DefaultClient, g.HealthURL+"/readyz"),
	})
	return g, err
}
