// Package doctor checks an installation of olmgate from outside of it: what the API server has, what it calls, and what
// comes back.
package doctor

import (
	"context"
	"fmt"
	"net/http"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	dto "github.com/prometheus/client_model/go"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/catalog/source"
)

// State is what a check found.
type State string

// The states, from good to bad.
const (
	// OK: as it should be.
	OK State = "ok"
	// Skipped: it could not be looked at, which says nothing about the installation.
	Skipped State = "skipped"
	// Warning: it works, and deserves a look.
	Warning State = "warning"
	// Fault: olmgate does not do its work, or not all of it.
	Fault State = "fault"
)

// Finding is the outcome of one check. A check may have several.
type Finding struct {
	Check string `json:"check"`
	State State  `json:"state"`
	// Message says what was found.
	Message string `json:"message"`
	// Next says what to do about it, "" when there is nothing.
	Next string `json:"next,omitempty"`
}

// Count is how many findings there are of each state.
func Count(findings []Finding) map[State]int {
	counts := map[State]int{}
	for _, f := range findings {
		counts[f.State]++
	}
	return counts
}

// Options say what to check.
type Options struct {
	// Config is for the API server.
	Config *rest.Config
	// Namespace that olmgate is installed in.
	Namespace string
	// InCluster is whether this process runs in the cluster, so that Services and Pods can be called.
	InCluster bool
	// CatalogdURL and CatalogdCA reach catalogd in another way than by the API server's service proxy.
	CatalogdURL string
	CatalogdCA  []string
	// Timeout of each check; 0 means 10 s.
	Timeout time.Duration
}

// Names in olmgate's manifests.
const (
	configuration = "olmgate"
	hookName      = "clusterextensions.olmgate.dev"
	service       = "olmgate-webhook"
	deployment    = "olmgate"
	container     = "olmgate"
)

// doctor is one run over an installation. Later checks use what earlier ones found.
type doctor struct {
	Options
	client   client.WithWatch
	http     *http.Client
	catalogd source.Fetcher
	warnings *warnings
	now      func() time.Time

	findings []Finding
	check    string

	// catalogs is nil until they were listed.
	catalogs []ocv1.ClusterCatalog
	// olm is whether the API server serves OLM's kinds.
	olm bool
	// hook is the webhook for ClusterExtensions, nil when there is none.
	hook *admissionregistrationv1.ValidatingWebhook
	// deployed is nil when there is no Deployment.
	deployed *appsv1.Deployment
	// configured is nil until the settings were read.
	configured *configured
	// scraped are the metrics of Pods by name.
	scraped map[string]map[string]*dto.MetricFamily
	// pods are those of the Deployment, endpoints the addresses that the Service leads to.
	pods      []corev1.Pod
	endpoints []endpoint
}

// Run does all checks, in the order in which a fault of one explains those of later ones. An error means that there was
// nothing to begin with.
func Run(ctx context.Context, o Options) ([]Finding, error) {
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	d, err := newDoctor(o)
	if err != nil {
		return nil, err
	}
	if !d.do(ctx, "api-server", d.apiServer) {
		return d.findings, nil
	}
	for _, c := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"olm", d.olmKinds},
		{"catalogs", d.listCatalogs},
		{"catalogd", d.reachCatalogd},
		{"deployment", d.workload},
		{"service", d.serviceEndpoints},
		{"webhook-configuration", d.webhookConfiguration},
		{"cert-manager", d.certManager},
		{"ca-bundle", d.caBundle},
		{"certificate", d.certificate},
		{"content", d.content},
		{"dry-run", d.dryRun},
	} {
		d.do(ctx, c.name, c.run)
	}
	return d.findings, nil
}

func newDoctor(o Options) (*doctor, error) {
	d := &doctor{Options: o, warnings: &warnings{}, now: time.Now}
	config := rest.CopyConfig(o.Config)
	config.WarningHandlerWithContext = d.warnings
	config.QPS = -1
	d.Config = config
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		ocv1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, discoveryv1.AddToScheme, admissionregistrationv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("setting up the checks: %w", err)
		}
	}
	var err error
	if d.http, err = rest.HTTPClientFor(config); err != nil {
		return nil, fmt.Errorf("setting up the connection to %s: %w", config.Host, err)
	}
	if d.client, err = client.NewWithWatch(config, client.Options{Scheme: scheme, HTTPClient: d.http}); err != nil {
		return nil, fmt.Errorf("setting up the connection to %s: %w", config.Host, err)
	}
	d.catalogd, err = source.Pick(source.Options{
		HTTPOptions: source.HTTPOptions{CA: o.CatalogdCA, Limits: firstBytes}, URL: o.CatalogdURL, InCluster: o.InCluster, Config: config,
	})
	return d, err
}

// do runs one check and reports whether it found no fault. An error of a check is one of asking: what it wanted to know
// stays unknown.
func (d *doctor) do(ctx context.Context, name string, check func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	d.check = name
	before := len(d.findings)
	if err := check(ctx); err != nil {
		if apierrors.IsForbidden(err) {
			d.skip("%v", err)
		} else {
			d.fault("try again; if it stays, look at the API server", "%v", err)
		}
	}
	for _, f := range d.findings[before:] {
		if f.State == Fault {
			return false
		}
	}
	return true
}

func (d *doctor) add(s State, next, format string, args ...any) {
	d.findings = append(d.findings, Finding{Check: d.check, State: s, Message: fmt.Sprintf(format, args...), Next: next})
}

func (d *doctor) ok(format string, args ...any)          { d.add(OK, "", format, args...) }
func (d *doctor) skip(format string, args ...any)        { d.add(Skipped, "", format, args...) }
func (d *doctor) warn(next, format string, args ...any)  { d.add(Warning, next, format, args...) }
func (d *doctor) fault(next, format string, args ...any) { d.add(Fault, next, format, args...) }
