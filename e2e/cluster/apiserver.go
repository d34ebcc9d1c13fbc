package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/olmgate/olmgate/e2e/sandbox"
)

const (
	apiReadyTimeout = 60 * time.Second
	// apiStopGrace is short: with open watches the API server takes its time.
	apiStopGrace = 5 * time.Second
)

func (c *Cluster) startAPIServer(ctx context.Context) error {
	if err := c.writeAdminKubeconfig(c.KubeconfigPath, "https://"+APIAddress); err != nil {
		return err
	}
	client, err := c.adminClient()
	if err != nil {
		return err
	}
	audit, err := c.auditFlags()
	if err != nil {
		return err
	}
	args := []string{
		"--etcd-servers=" + etcdClientURL,
		"--bind-address=" + apiIP,
		"--secure-port=" + apiPort,
		"--advertise-address=" + apiIP,
		"--tls-cert-file=" + c.pki("apiserver.crt"),
		"--tls-private-key-file=" + c.pki("apiserver.key"),
		"--client-ca-file=" + c.kubeCA.CertFile,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.pki("sa.pub"),
		"--service-account-signing-key-file=" + c.pki("sa.key"),
		"--service-cluster-ip-range=" + ServiceSubnet,
	}
	c.apiserver, err = c.StartProcess(ctx, ProcessSpec{
		Name:         "kube-apiserver",
		Path:         c.tool("kube-apiserver"),
		Args:         slices.Concat(args, c.nodeFlags(), audit, c.options.APIServerFlags),
		Ready:        URLReady(client, "https://"+APIAddress+"/readyz"),
		ReadyTimeout: apiReadyTimeout,
	})
	return err
}

// nodeFlags are those that depend on whether there are nodes.
func (c *Cluster) nodeFlags() []string {
	if !c.options.Nodes {
		return []string{
			"--authorization-mode=RBAC",
			"--endpoint-reconciler-type=none",
			// Webhooks are called at the addresses of their EndpointSlices: nothing
			// here implements cluster IPs.
			"--enable-aggregator-routing=true",
		}
	}
	return []string{
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--endpoint-reconciler-type=lease",
		"--allow-privileged=true",
		"--kubelet-client-certificate=" + c.pki("admin.crt"),
		"--kubelet-client-key=" + c.pki("admin.key"),
		// Names of nodes resolve nowhere.
		"--kubelet-preferred-address-types=InternalIP",
	}
}

// StopAPIServer stops kube-apiserver; etcd keeps its data.
func (c *Cluster) StopAPIServer() { c.apiserver.Terminate(apiStopGrace) }

// RestartAPIServer stops kube-apiserver, starts it again and waits until it is
// ready.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	c.StopAPIServer()
	if err := c.startAPIServer(ctx); err != nil {
		return fmt.Errorf("restarting kube-apiserver: %w", err)
	}
	return nil
}

// ForwardAPI lets programs outside the sandbox reach the API server through the
// listener (see sandbox.Listener) and writes a kubeconfig for them.
func (c *Cluster) ForwardAPI(listener net.Listener, kubeconfigPath string) error {
	if err := c.writeAdminKubeconfig(kubeconfigPath, "https://"+listener.Addr().String()); err != nil {
		return err
	}
	go sandbox.ForwardTo(listener, APIAddress)
	return nil
}

// adminClient is an HTTP client of the API server with the administrator's rights.
func (c *Cluster) adminClient() (*http.Client, error) {
	cert, err := tls.LoadX509KeyPair(c.pki("admin.crt"), c.pki("admin.key"))
	if err != nil {
		return nil, fmt.Errorf("loading the administrator's certificate: %w", err)
	}
	transport := trusting(c.kubeCA.PEM)
	transport.TLSClientConfig.Certificates = []tls.Certificate{cert}
	return &http.Client{Transport: transport}, nil
}

// CatalogClient returns an HTTP client that trusts catalogd's certificate.
func (c *Cluster) CatalogClient() (*http.Client, error) {
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading catalogd's CA: %w", err)
	}
	return &http.Client{Transport: trusting(pem)}, nil
}

// trusting makes a transport without kept connections, which would survive the
// restart of a server only to fail later.
func trusting(pem []byte) *http.Transport {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}
}
