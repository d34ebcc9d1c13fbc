package manifests

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files")

// certificate has the fields of a cert-manager Certificate that the base uses.
type certificate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		SecretName string   `json:"secretName"`
		DNSNames   []string `json:"dnsNames"`
		PrivateKey struct {
			Algorithm      string `json:"algorithm"`
			Size           int    `json:"size"`
			RotationPolicy string `json:"rotationPolicy"`
		} `json:"privateKey"`
		IssuerRef struct{ Group, Kind, Name string } `json:"issuerRef"`
	} `json:"spec"`
}

// rendered is the base as kustomize renders it, as text and decoded.
type rendered struct {
	text        string
	config      admissionregistrationv1.ValidatingWebhookConfiguration
	deployment  appsv1.Deployment
	service     corev1.Service
	namespace   corev1.Namespace
	account     corev1.ServiceAccount
	clusterRole rbacv1.ClusterRole
	role        rbacv1.Role
	certificate certificate
}

// render decodes strictly: an unknown field fails the test.
func render(t *testing.T) *rendered {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "base")
	if err != nil {
		t.Fatal(err)
	}
	text, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	r := &rendered{text: string(text)}
	into := map[string]any{
		"ValidatingWebhookConfiguration": &r.config, "Deployment": &r.deployment, "Service": &r.service,
		"Namespace": &r.namespace, "ServiceAccount": &r.account, "ClusterRole": &r.clusterRole, "Role": &r.role,
		"ClusterRoleBinding": &rbacv1.ClusterRoleBinding{}, "RoleBinding": &rbacv1.RoleBinding{}, "Certificate": &r.certificate,
	}
	for _, resource := range resources.Resources() {
		target, ok := into[resource.GetKind()]
		if !ok {
			t.Fatalf("a %s nobody expects, or a second one", resource.GetKind())
		}
		delete(into, resource.GetKind())
		doc, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(doc, target); err != nil {
			t.Errorf("%s: %v", resource.GetKind(), err)
		}
	}
	for kind := range into {
		t.Errorf("no %s", kind)
	}
	return r
}

func TestTheBaseRendersAsBefore(t *testing.T) {
	r := render(t)
	golden := filepath.Join("testdata", "base.yaml")
	if *update {
		if err := os.WriteFile(golden, []byte(r.text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), r.text); diff != "" {
		t.Errorf("run with -update after looking at this: %s", diff)
	}
}

func TestEveryObjectIsOfAKnownVersion(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, admissionregistrationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for _, doc := range strings.Split(render(t).text, "\n---\n") {
		var meta metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(doc), &meta); err != nil {
			t.Fatal(err)
		}
		if !scheme.Recognizes(meta.GroupVersionKind()) && meta.APIVersion != "cert-manager.io/v1" {
			t.Errorf("%s of %s", meta.Kind, meta.APIVersion)
		}
	}
}

func TestThePartsFitTogether(t *testing.T) {
	r := render(t)
	hook := r.config.Webhooks[0]
	pod := r.deployment.Spec.Template
	container := pod.Spec.Containers[0]
	equal := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	equal("service of the webhook", hook.ClientConfig.Service.Namespace+"/"+hook.ClientConfig.Service.Name, r.service.Namespace+"/"+r.service.Name)
	equal("port of the webhook", *hook.ClientConfig.Service.Port, r.service.Spec.Ports[0].Port)
	equal("path of the webhook", *hook.ClientConfig.Service.Path, "/validate-clusterextension")
	for key, value := range r.service.Spec.Selector {
		equal("label "+key+" of the pods", pod.Labels[key], value)
	}
	equal("selector of the Deployment", r.deployment.Spec.Selector.MatchLabels, r.service.Spec.Selector)
	ports := map[string]int32{}
	for _, p := range container.Ports {
		ports[p.Name] = p.ContainerPort
	}
	equal("ports", ports, map[string]int32{"webhook": 9443, "metrics": 8080, "health": 8081})
	equal("target port of the service", r.service.Spec.Ports[0].TargetPort.StrVal, "webhook")
	equal("service account", pod.Spec.ServiceAccountName, r.account.Name)
	equal("secret of the authority of catalogd", pod.Spec.Volumes[1].Secret.SecretName, r.certificate.Spec.SecretName)
	equal("the Secret may be missing", *pod.Spec.Volumes[1].Secret.Optional, true)
	equal("issuer", r.certificate.Spec.IssuerRef.Kind+"/"+r.certificate.Spec.IssuerRef.Name, "ClusterIssuer/olmv1-ca")
	equal("arguments", container.Args, []string{
		"serve", "--namespace=" + r.deployment.Namespace, "--webhook-bind-address=:9443", "--metrics-bind-address=:8080",
		"--health-probe-bind-address=:8081", "--catalogd-ca=" + container.VolumeMounts[1].MountPath + "/ca.crt",
		"--cache-dir=" + container.VolumeMounts[0].MountPath,
	})
	equal("replicas", *r.deployment.Spec.Replicas, int32(2))
	if grace := *pod.Spec.TerminationGracePeriodSeconds; grace < container.Lifecycle.PreStop.Sleep.Seconds+30 {
		t.Errorf("%d seconds of grace leave no time to finish reviews", grace)
	}
}

func TestTheWebhookCannotBeTheOutage(t *testing.T) {
	r := render(t)
	if len(r.config.Webhooks) != 1 {
		t.Fatalf("%d webhooks", len(r.config.Webhooks))
	}
	hook := r.config.Webhooks[0]
	cluster := admissionregistrationv1.ClusterScope
	want := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{"olm.operatorframework.io"}, APIVersions: []string{"v1"}, Resources: []string{"clusterextensions"}, Scope: &cluster,
		},
	}}
	if diff := cmp.Diff(want, hook.Rules); diff != "" {
		t.Error(diff)
	}
	got := fmt.Sprint(hook.Name, *hook.FailurePolicy, *hook.SideEffects, *hook.MatchPolicy, *hook.TimeoutSeconds, hook.AdmissionReviewVersions)
	if got != fmt.Sprint("clusterextensions.olmgate.dev", "Ignore", "None", "Equivalent", 5, []string{"v1"}) {
		t.Error(got)
	}
}

func TestTheRightsAreThese(t *testing.T) {
	r := render(t)
	var got []string
	list := func(where string, rules []rbacv1.PolicyRule) {
		for _, rule := range rules {
			got = append(got, fmt.Sprintf("%s: %v of %v in %q, named %v", where, rule.Verbs, rule.Resources, rule.APIGroups, rule.ResourceNames))
		}
	}
	list("cluster", r.clusterRole.Rules)
	list(r.role.Namespace, r.role.Rules)
	want := []string{
		`cluster: [get list watch] of [clustercatalogs] in ["olm.operatorframework.io"], named []`,
		`cluster: [get patch] of [validatingwebhookconfigurations] in ["admissionregistration.k8s.io"], named [olmgate]`,
		`olmgate-system: [get update] of [secrets] in [""], named [olmgate-ca]`,
		`olmgate-system: [create] of [secrets] in [""], named []`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("say why in rbac.yaml and here: %s", diff)
	}
}

func TestThePodIsRestricted(t *testing.T) {
	r := render(t)
	if r.namespace.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Error("the namespace does not enforce it")
	}
	pod := r.deployment.Spec.Template.Spec
	if !*pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || pod.HostNetwork {
		t.Errorf("%+v", pod.SecurityContext)
	}
	for _, c := range pod.Containers {
		s := c.SecurityContext
		if *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || fmt.Sprint(s.Capabilities.Drop) != "[ALL]" || len(s.Capabilities.Add) > 0 {
			t.Errorf("%s: %+v", c.Name, s)
		}
		if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
			t.Errorf("%s: %+v", c.Name, c.Resources)
		}
	}
}
