package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/config"
)

// warnings are what the API server said beside its last answers.
type warnings struct {
	mu   sync.Mutex
	list []string
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, text)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	return list
}

// probe is an extension that the CRD lets through and that nobody can resolve, whatever catalogs there are.
func probe() *ocv1.ClusterExtension {
	return &ocv1.ClusterExtension{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "olmgate-doctor-"},
		Spec: ocv1.ClusterExtensionSpec{
			Namespace:      "default",
			ServiceAccount: ocv1.ServiceAccountReference{Name: "default"}, //nolint:staticcheck // the CRDs of earlier releases require it
			Source: ocv1.SourceConfig{SourceType: ocv1.SourceTypeCatalog, Catalog: &ocv1.CatalogFilter{
				PackageName: "olmgate-doctor",
				Selector:    &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "olmgate.dev/doctor", Operator: "Foo"}}},
			}},
		},
	}
}

const failOpenNext = "the API server counts calls that failed in apiserver_admission_webhook_fail_open_count and rejected ones in " +
	"apiserver_admission_webhook_rejection_count (kubectl get --raw /metrics), and says why in its own log"

// dryRun asks for an extension whose selector nobody can read, without storing it, and compares the answer with what
// the configured mode gives.
func (d *doctor) dryRun(ctx context.Context) error {
	if !d.olm {
		d.skip("without OLM v1 there is no ClusterExtension to try")
		return nil
	}
	settings, err := d.settings(ctx)
	mode, expected := settings.Mode, "as mode "+settings.Mode+" has it"
	if err != nil {
		mode, expected = "", fmt.Sprintf("and whether that is what its mode has is not known (%v)", err)
	}
	d.warnings.take()
	err = d.client.Create(ctx, probe(), client.DryRunAll)
	var warned string
	for _, w := range d.warnings.take() {
		if strings.HasPrefix(w, "olmgate: ") {
			warned = w
			break
		}
	}
	switch text := fmt.Sprint(err); {
	case err == nil && warned == "":
		d.fault(failOpenNext, "an extension that cannot resolve was let through without a word: the API server does not get olmgate's answer")
	case err == nil && mode == config.ModeEnforce:
		d.fault("compare the mode in the configuration with the Pods that run: they may be of an older rollout", "the configured mode is %s, and olmgate warns: %s", mode, warned)
	case err == nil:
		d.ok("a dry run was answered with a warning, %s: %s", expected, warned)
	case strings.Contains(text, `"`+hookName+`" denied the request`) && mode == config.ModeWarn:
		d.fault("compare the mode in the configuration with the Pods that run: they may be of an older rollout", "the configured mode is %s, and olmgate denies: %v", mode, err)
	case strings.Contains(text, `"`+hookName+`" denied the request`):
		d.ok("a dry run was denied, %s: %v", expected, err)
	case strings.Contains(text, "failed calling webhook"):
		d.fault(callNext(text), "the API server cannot call a webhook, and failurePolicy Fail makes that an error of every write: %v", err)
	case apierrors.IsForbidden(err):
		d.skip("%v", err)
	default:
		d.fault("", "a dry run was refused, and not by olmgate: %v", err)
	}
	return nil
}

// callNext says what to do about an error of the API server's call.
func callNext(text string) string {
	switch {
	case strings.Contains(text, "x509:"):
		return "the caBundle does not match the certificate that is served: see the checks ca-bundle and certificate"
	case strings.Contains(text, "no endpoints available"), strings.Contains(text, "connection refused"):
		return "no Pod answers behind the Service: see the checks deployment and service"
	case strings.Contains(text, "deadline exceeded"), strings.Contains(text, "Timeout"):
		return "something between the API server and the Pods drops packets: a NetworkPolicy, or a firewall between control plane and nodes that must let port 9443 through"
	}
	return "docs/emergency.md says how to switch olmgate off until it is mended"
}

// settings are those that the Deployment configures, as far as checks need them: flags over the configuration file.
func (d *doctor) settings(ctx context.Context) (config.OlmgateConfiguration, error) {
	c := config.Default()
	if d.deployed == nil {
		return c, errors.New("there is no Deployment")
	}
	args := d.container().Args
	if file := argument(args, "config"); file != "" {
		name, key := d.configMap(file)
		if name == "" {
			return c, fmt.Errorf("--config=%s is not from a ConfigMap", file)
		}
		found := &corev1.ConfigMap{}
		err := d.client.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: name}, found)
		if err == nil {
			c, err = config.Decode([]byte(found.Data[key]))
		}
		if err != nil {
			return c, fmt.Errorf("reading the configuration from ConfigMap %s: %w", name, err)
		}
	}
	if v := argument(args, "mode"); v != "" {
		c.Mode = v
	}
	if v := argument(args, "cert-source"); v != "" {
		c.Certificates.Source = v
	}
	return c, nil
}

// argument is the value of --name=value or --name value.
func argument(args []string, name string) string {
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--"+name+"="); ok {
			return v
		}
		if a == "--"+name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// configMap is where a file of the container comes from: a ConfigMap and the key in it, "" when it is from elsewhere.
func (d *doctor) configMap(file string) (name, key string) {
	for _, m := range d.container().VolumeMounts {
		rest, below := strings.CutPrefix(file, strings.TrimSuffix(m.MountPath, "/")+"/")
		if !below && file != m.MountPath {
			continue
		}
		if m.SubPath != "" {
			rest = m.SubPath
		}
		for _, v := range d.deployed.Spec.Template.Spec.Volumes {
			if v.Name != m.Name || v.ConfigMap == nil {
				continue
			}
			for _, item := range v.ConfigMap.Items {
				if item.Path == rest {
					return v.ConfigMap.Name, item.Key
				}
			}
			return v.ConfigMap.Name, rest
		}
	}
	return "", ""
}
