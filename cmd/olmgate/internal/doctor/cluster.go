package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/source"
)

// oldest is the first version whose API servers know all that the manifests use: matchConditions, and preStop.sleep.
var oldest = version.MustParseGeneric("1.30")

// firstBytes of a catalog are enough to know that it can be had.
var firstBytes = catalog.Limits{TotalBytes: 64 << 10}

func (d *doctor) discovery() (*discovery.DiscoveryClient, error) {
	c, err := discovery.NewDiscoveryClientForConfigAndClient(d.Config, d.http)
	if err != nil {
		return nil, fmt.Errorf("setting up the connection to %s: %w", d.Config.Host, err)
	}
	return c, nil
}

func (d *doctor) apiServer(ctx context.Context) error {
	c, err := d.discovery()
	if err != nil {
		return err
	}
	info, err := c.ServerVersionWithContext(ctx)
	if err != nil {
		d.fault("name the cluster with --kubeconfig and --context, or --server", "the API server at %s does not answer: %v", d.Config.Host, err)
		return nil
	}
	v, err := version.ParseGeneric(info.GitVersion)
	switch {
	case err != nil:
		d.warn("", "the API server at %s has a version that cannot be read: %q", d.Config.Host, info.GitVersion)
	case !v.AtLeast(oldest):
		d.fault("upgrade the cluster", "the API server at %s is Kubernetes %s, and olmgate needs %s at least", d.Config.Host, info.GitVersion, oldest)
	default:
		d.ok("Kubernetes %s at %s", info.GitVersion, d.Config.Host)
	}
	return nil
}

func (d *doctor) olmKinds(ctx context.Context) error {
	const next = "install OLM v1 (operator-controller 1.0 or later)"
	c, err := d.discovery()
	if err != nil {
		return err
	}
	list, err := c.ServerResourcesForGroupVersionWithContext(ctx, ocv1.GroupVersion.String())
	if apierrors.IsNotFound(err) {
		d.fault(next, "OLM v1 is not installed: the API server does not serve %s", ocv1.GroupVersion)
		return nil
	}
	if err != nil {
		return fmt.Errorf("asking what %s has: %w", ocv1.GroupVersion, err)
	}
	for _, resource := range []string{"clusterextensions", "clustercatalogs"} {
		if !slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }) {
			d.fault(next, "OLM v1 is not complete: %s has no %s", ocv1.GroupVersion, resource)
			return nil
		}
	}
	d.olm = true
	d.ok("the API server serves ClusterExtensions and ClusterCatalogs (%s)", ocv1.GroupVersion)
	return nil
}

func (d *doctor) listCatalogs(ctx context.Context) error {
	if !d.olm {
		d.skip("without OLM v1 there are no catalogs")
		return nil
	}
	var list ocv1.ClusterCatalogList
	if err := d.client.List(ctx, &list); err != nil {
		return fmt.Errorf("listing the ClusterCatalogs: %w", err)
	}
	d.catalogs = list.Items
	if len(list.Items) == 0 {
		d.warn("create a ClusterCatalog", "there is no ClusterCatalog, so no ClusterExtension resolves")
		return nil
	}
	var serving []string
	for i := range list.Items {
		cc := &list.Items[i]
		switch why := notServing(cc); {
		case cc.Spec.AvailabilityMode == ocv1.AvailabilityModeUnavailable:
			d.ok("%s is switched off (availabilityMode: Unavailable)", cc.Name)
		case why != "":
			d.warn("kubectl describe clustercatalog "+cc.Name, "%s does not serve: %s; extensions that could get a package from it are undecided until it does", cc.Name, why)
		default:
			serving = append(serving, cc.Name)
		}
	}
	if len(serving) > 0 {
		d.ok("%s of %d serve: %s", count(len(serving), "ClusterCatalog"), len(list.Items), strings.Join(serving, ", "))
	}
	return nil
}

// notServing says why a catalog has no content to offer, "" when it has.
func notServing(cc *ocv1.ClusterCatalog) string {
	for _, c := range cc.Status.Conditions {
		if c.Type == ocv1.TypeServing && c.Status != metav1.ConditionTrue {
			return strings.TrimSuffix(c.Reason+": "+c.Message, ": ")
		}
	}
	if cc.Status.URLs == nil || cc.Status.URLs.Base == "" {
		return "it has not been unpacked yet"
	}
	return ""
}

// reachCatalogd reads the first bytes of each catalog, in the way that is open to this process.
func (d *doctor) reachCatalogd(ctx context.Context) error {
	var reached []string
	for i := range d.catalogs {
		cc := &d.catalogs[i]
		if cc.Spec.AvailabilityMode == ocv1.AvailabilityModeUnavailable || notServing(cc) != "" {
			continue
		}
		_, err := d.catalogd.Fetch(ctx, cc)
		var answer *source.StatusError
		switch {
		case err == nil, errors.Is(err, catalog.ErrLimit):
			reached = append(reached, cc.Name)
		case errors.As(err, &answer) && (answer.Code == http.StatusForbidden || answer.Code == http.StatusUnauthorized):
			d.skip("%v", err)
		default:
			d.fault("kubectl -n olmv1-system get pods,svc,endpointslices shows what catalogd does", "%v", err)
		}
	}
	switch {
	case len(reached) > 0:
		d.ok("catalogd is reached and serves %s", strings.Join(reached, ", "))
	case len(d.findings) == 0 || d.findings[len(d.findings)-1].Check != d.check:
		d.skip("no catalog that serves was seen")
	}
	return nil
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
