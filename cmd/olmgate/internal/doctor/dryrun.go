package doctor

import (
	"cmp"
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
	"github.com/olmgate/olmgate/resolver"
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

// reply is what came back of a dry run.
type reply struct {
	err error
	// warned is the first of olmgate's warnings, "" when there was none.
	warned string
}

// denied reports whether olmgate denied.
func (r reply) denied() bool { return r.says(`"` + hookName + `" denied the request`) }

func (r reply) says(text string) bool { return r.err != nil && strings.Contains(r.err.Error(), text) }

func (d *doctor) try(ctx context.Context, e *ocv1.ClusterExtension) reply {
	d.warnings.take()
	r := reply{err: d.client.Create(ctx, e, client.DryRunAll)}
	for _, w := range d.warnings.take() {
		if strings.HasPrefix(w, "olmgate: ") {
			r.warned = w
			break
		}
	}
	return r
}

// dryRun asks for an extension whose selector nobody can read, without storing it, and compares the answer with what
// the configuration gives.
func (d *doctor) dryRun(ctx context.Context) error {
	if !d.olm {
		d.skip("without OLM v1 there is no ClusterExtension to try")
		return nil
	}
	e := probe()
	r := d.try(ctx, e)
	if r.says("ValidatingAdmissionPolicy") && r.says("denied request") {
		// A policy spoke first. What no policy can know is that no catalog has a package.
		e.Spec.Source.Catalog.Selector, e.Spec.Source.Catalog.PackageName = nil, "olmgate-doctor-in-no-catalog"
		r = d.try(ctx, e)
		if r.err == nil && r.warned != "" || r.denied() {
			d.ok("a dry run was answered by olmgate: %s", cmp.Or(r.warned, fmt.Sprint(r.err)))
			return nil
		}
	}
	switch {
	case r.says("failed calling webhook"):
		d.fault(callNext(r.err.Error()), "the API server cannot call a webhook, and failurePolicy Fail makes that an error of every write: %v", r.err)
	case r.err != nil && !r.denied() && apierrors.IsForbidden(r.err) && r.says("cannot create resource"):
		d.skip("%v", r.err)
	case r.err != nil && !r.denied():
		d.fault("see who refuses it", "a dry run was refused, and not by olmgate: %v", r.err)
	default:
		d.compareAnswer(ctx, r)
	}
	return nil
}

const olderPods = "compare the configuration with the Pods that run: they may be of an older rollout"

// compareAnswer holds what came back against the mode and policy that are configured.
func (d *doctor) compareAnswer(ctx context.Context, r reply) {
	settings, err := d.settings(ctx)
	want, expected := wanted(settings), "as mode "+settings.Mode+" has it"
	if err != nil {
		want, expected = "", fmt.Sprintf("and whether that is what its mode has is not known (%v)", err)
	}
	exempt := len(settings.Exempt.Users)+len(settings.Exempt.Groups) > 0
	switch {
	case r.denied() && (want == config.ActionWarn || want == config.ActionIgnore):
		d.fault(olderPods, "the configuration has no denial here (mode %s), and olmgate denies: %v", settings.Mode, r.err)
	case r.denied():
		d.ok("a dry run was denied, %s: %v", expected, r.err)
	case r.warned == "" && want == config.ActionIgnore:
		d.skip("the policy ignores what a dry run could show (%s)", resolver.InvalidSelector)
	case r.warned == "" && exempt:
		d.warn(failOpenNext, "an extension that cannot resolve was let through without a word: you are exempt (exempt.users, exempt.groups), or the API server does not get olmgate's answer")
	case r.warned == "":
		d.fault(failOpenNext, "an extension that cannot resolve was let through without a word: the API server does not get olmgate's answer")
	case !strings.HasPrefix(r.warned, "olmgate: "+string(resolver.InvalidSelector)+": "):
		d.fault(fmt.Sprintf("kubectl -n %s logs deployment/%s", d.Namespace, deployment), "olmgate answered a dry run with another word than the one to expect: %s", r.warned)
	case want == config.ActionDeny:
		d.warn(olderPods+"; or the API server is too slow to confirm denials, which olmgate's log says", "the configuration has a denial here, and olmgate warns: %s", r.warned)
	default:
		d.ok("a dry run was answered with a warning, %s: %s", expected, r.warned)
	}
}

// wanted is the action for the probe.
func wanted(c config.OlmgateConfiguration) string {
	action := cmp.Or(c.Policy.Reasons[string(resolver.InvalidSelector)], config.ActionDeny)
	if action == config.ActionDeny && c.Mode == config.ModeWarn {
		return config.ActionWarn
	}
	return action
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

// settings are those that the Deployment configures, as far as checks need them: flags over the configuration file. They
// are read once.
func (d *doctor) settings(ctx context.Context) (config.OlmgateConfiguration, error) {
	if d.configured == nil {
		c, err := d.readSettings(ctx)
		d.configured = &configured{c, err}
	}
	return d.configured.settings, d.configured.err
}

// configured is what reading the settings gave.
type configured struct {
	settings config.OlmgateConfiguration
	err      error
}

func (d *doctor) readSettings(ctx context.Context) (config.OlmgateConfiguration, error) {
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

// argument is the value of --name=value or --name value; the last one counts.
func argument(args []string, name string) string {
	value := ""
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--"+name+"="); ok {
			value = v
		}
		if a == "--"+name && i+1 < len(args) {
			value = args[i+1]
		}
	}
	return value
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
