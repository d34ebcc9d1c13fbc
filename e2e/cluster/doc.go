// Package cluster runs a real Kubernetes API server with etcd, OLM's CRDs and a
// real catalogd with catalogs from a local registry, inside a sandbox.
//
// There is no kubelet, unless package node adds one: processes stand in for pods. A process listens on an
// address of the sandbox's subnet, an EndpointSlice sends a Service there, and a
// Pod object that never runs tells the API server that the address is a pod's.
package cluster

// ServiceSubnet is where the addresses of Services come from.
const ServiceSubnet = "10.0.0.0/24"

// Addresses inside the sandbox. 10.200.0.10 and up are free for tests.
const (
	// WebhookAddress is for the webhook under test.
	WebhookAddress = "10.200.0.1"
	// APIAddress is where kube-apiserver listens.
	APIAddress = "10.200.0.2:" + apiPort
	// CatalogdIP is where catalogd listens, as catalogd-service's address.
	CatalogdIP = "10.200.0.3"
	// DNSIP is for a name server.
	DNSIP = "10.200.0.5"
	// RegistryAddress is the registry catalogd pulls from.
	RegistryAddress = "10.200.0.4:5000"

	apiIP      = "10.200.0.2"
	apiPort    = "6443"
	registryIP = "10.200.0.4"

	etcdClientURL = "http://127.0.0.1:2379"
	etcdPeerURL   = "http://127.0.0.1:2380"
)

// Names of OLM v1 as its own manifests have them.
const (
	// OLMNamespace is where OLM lives.
	OLMNamespace = "olmv1-system"
	// CatalogdService is the Service in front of catalogd.
	CatalogdService = "catalogd-service"
	// CatalogdHost is catalogd's name in the catalogs' URLs.
	CatalogdHost = CatalogdService + "." + OLMNamespace + ".svc"
)

// Hosts is what the sandbox must resolve for a cluster to work.
func Hosts() map[string]string {
	return map[string]string{
		CatalogdHost:                    CatalogdIP,
		CatalogdHost + ".cluster.local": CatalogdIP,
		"kubernetes.default.svc":        apiIP,
	}
}
