package manifests

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestTheWebhookIsCalledForNothingElse(t *testing.T) {
	cluster := admissionregistrationv1.ClusterScope
	want := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{"olm.operatorframework.io"}, APIVersions: []string{"v1"}, Resources: []string{"clusterextensions"}, Scope: &cluster,
		},
	}}
	each(t, func(t *testing.T, s set) {
		hook := s.hook(t)
		if diff := cmp.Diff(want, hook.Rules); diff != "" {
			t.Error(diff)
		}
		policy := "Ignore"
		if strings.HasSuffix(t.Name(), "/fail-closed") {
			policy = "Fail"
		}
		got := fmt.Sprint(hook.Name, *hook.FailurePolicy, *hook.SideEffects, *hook.MatchPolicy, *hook.TimeoutSeconds, hook.AdmissionReviewVersions)
		if got != fmt.Sprint("clusterextensions.olmgate.dev", policy, "None", "Equivalent", 5, []string{"v1"}) {
			t.Error(got)
		}
		if hook.ClientConfig.CABundle != nil {
			t.Error("applying caBundle again would overwrite the one that is in use")
		}
		var names []string
		for _, c := range hook.MatchConditions {
			names = append(names, c.Name)
		}
		if diff := cmp.Diff([]string{"not-being-deleted", "source-changed", "not-break-glass"}, names); diff != "" {
			t.Error(diff)
		}
	})
}

// TestTheRightsAreThese is the list of what each installation may do. A new line says here who gets what.
func TestTheRightsAreThese(t *testing.T) {
	catalogs := `cluster: get list watch of clustercatalogs.olm.operatorframework.io`
	base := []string{catalogs}
	selfManaged := append(slices.Clone(base),
		`cluster: get list watch patch of validatingwebhookconfigurations.admissionregistration.k8s.io named olmgate`,
		`olmgate-system: get list watch create update patch of secrets named olmgate-ca`)
	certManager := append(slices.Clone(base),
		`cluster: get list watch of validatingwebhookconfigurations.admissionregistration.k8s.io named olmgate`,
		`olmgate-system: get list watch of secrets named olmgate-webhook-tls`,
		`olmgate-system: get list watch create update patch of secrets named olmgate-trust`,
		`olmgate-system: get of certificates.cert-manager.io named olmgate-webhook`,
		`olmgate-system: get of issuers.cert-manager.io named olmgate-ca`,
		`olmgate-system: list of certificaterequests.cert-manager.io`)
	create := append(slices.Clone(certManager),
		`olmgate-system: get create patch of certificates.cert-manager.io named olmgate-ca olmgate-webhook`,
		`olmgate-system: get create patch of issuers.cert-manager.io named olmgate-ca olmgate-selfsigned`)
	doctor := []string{
		`doctor: cluster: get list of clustercatalogs.olm.operatorframework.io`,
		`doctor: cluster: get of validatingwebhookconfigurations.admissionregistration.k8s.io named olmgate`,
		`doctor: cluster: create of clusterextensions.olm.operatorframework.io`,
		`doctor: olmgate-system: get of deployments.apps named olmgate`,
		`doctor: olmgate-system: get of services named olmgate-webhook`,
		`doctor: olmgate-system: get of configmaps named olmgate-config`,
		`doctor: olmgate-system: list of pods`,
		`doctor: olmgate-system: list of endpointslices.discovery.k8s.io`,
	}
	// The Lease by name, and events where those about objects without a namespace are.
	writer := []string{
		`cluster: patch of clusterextensions/status.olm.operatorframework.io`,
		`olmgate-system: get create update patch of leases.coordination.k8s.io named olmgate-status-writer`,
		`default: create patch of events.events.k8s.io`,
	}
	var statusWriter []string
	for _, line := range append(writer, `cluster: get list watch of clusterextensions clustercatalogs.olm.operatorframework.io`) {
		statusWriter = append(statusWriter, "status-writer: "+line)
	}
	writeStatus := append(slices.Clone(writer), `cluster: get list watch of clusterextensions.olm.operatorframework.io`)
	want := map[string][]string{
		"enforce": selfManaged, "warn": selfManaged, "fail-closed": selfManaged, "prometheus": selfManaged,
		"network-policy": selfManaged, "admission-policy": selfManaged,
		"enforce-cert-manager": certManager, "other-namespace-cert-manager": certManager, "cert-manager-create": create,
		"openshift": append(slices.Clone(base), doctor...), "doctor": append(slices.Clone(selfManaged), doctor...),
		"other-namespace": append(slices.Clone(selfManaged), doctor...),
		"status-writer":   slices.Concat(selfManaged, statusWriter), "write-status": slices.Concat(selfManaged, writeStatus),
		"status-writer-monitored": slices.Concat(selfManaged, statusWriter), "status-writer-openshift": slices.Concat(base, statusWriter, doctor),
		"other-namespace-status-writer": slices.Concat(selfManaged, statusWriter), "other-namespace-write-status": slices.Concat(certManager, writeStatus),
	}
	each(t, func(t *testing.T, s set) {
		_, name, _ := strings.Cut(t.Name(), "/")
		var got []string
		for _, rights := range rightsOf(s) {
			got = append(got, strings.Replace(rights, otherNamespace, "olmgate-system", 1))
		}
		expected := slices.Sorted(slices.Values(want[name]))
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("say why in rbac.yaml and here: %s", diff)
		}
	})
}

// rightsOf is what the accounts of an installation may do, sorted.
func rightsOf(s set) []string {
	var list []string
	add := func(account, where string, rules []rbacv1.PolicyRule) {
		for _, rule := range rules {
			line := where + ": " + strings.Join(rule.Verbs, " ") + " of " + strings.Join(rule.Resources, " ")
			if group := strings.Join(rule.APIGroups, " "); group != "" {
				line += "." + group
			}
			if len(rule.ResourceNames) > 0 {
				line += " named " + strings.Join(rule.ResourceNames, " ")
			}
			if of, ok := strings.CutPrefix(account, "olmgate-"); ok {
				line = of + ": " + line
			}
			list = append(list, line)
		}
	}
	for _, object := range s {
		switch binding := object.(type) {
		case *rbacv1.ClusterRoleBinding:
			add(binding.Subjects[0].Name, "cluster", s[binding.RoleRef.Kind+" "+binding.RoleRef.Name].(*rbacv1.ClusterRole).Rules)
		case *rbacv1.RoleBinding:
			add(binding.Subjects[0].Name, binding.Namespace, s[binding.RoleRef.Kind+" "+binding.RoleRef.Name].(*rbacv1.Role).Rules)
		}
	}
	slices.Sort(list)
	return list
}

// subjectsOf are the namespaces of the accounts that have roles, by binding.
func subjectsOf(s set) map[string]string {
	namespaces := map[string]string{}
	for key, object := range s {
		switch binding := object.(type) {
		case *rbacv1.ClusterRoleBinding:
			namespaces[key] = binding.Subjects[0].Namespace
		case *rbacv1.RoleBinding:
			namespaces[key] = binding.Subjects[0].Namespace
		}
	}
	return namespaces
}

func annotationsOf(t *testing.T, s set, key string) map[string]string {
	t.Helper()
	object, err := meta.Accessor(s[key])
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return object.GetAnnotations()
}

func TestNoRightIsWide(t *testing.T) {
	each(t, func(t *testing.T, s set) {
		for _, object := range s {
			var rules []rbacv1.PolicyRule
			switch role := object.(type) {
			case *rbacv1.ClusterRole:
				rules = role.Rules
			case *rbacv1.Role:
				rules = role.Rules
			}
			for _, rule := range rules {
				for _, word := range slices.Concat(rule.Verbs, rule.Resources, rule.APIGroups, rule.ResourceNames) {
					if strings.Contains(word, "*") || slices.Contains([]string{"escalate", "bind", "impersonate", "deletecollection", "delete"}, word) {
						t.Errorf("%s in %v", word, rule)
					}
				}
				if slices.Contains(rule.Resources, "secrets") && len(rule.ResourceNames) == 0 {
					t.Errorf("all Secrets: %v", rule)
				}
			}
		}
	})
}

func TestEveryPodIsRestricted(t *testing.T) {
	each(t, func(t *testing.T, s set) {
		for key, object := range s {
			var pod corev1.PodSpec
			switch o := object.(type) {
			case *corev1.Namespace:
				for _, mode := range []string{"enforce", "audit", "warn"} {
					if o.Labels["pod-security.kubernetes.io/"+mode] != "restricted" {
						t.Errorf("the namespace does not %s it", mode)
					}
				}
				continue
			case *appsv1.Deployment:
				pod = o.Spec.Template.Spec
			case *batchv1.Job:
				pod = o.Spec.Template.Spec
			default:
				continue
			}
			restricted(t, key, pod)
			if strings.HasSuffix(t.Name(), "openshift") != (pod.SecurityContext.RunAsUser == nil) || pod.SecurityContext.RunAsUser == nil && pod.SecurityContext.FSGroup != nil {
				t.Errorf("%s: numbers of users are OpenShift's to give, and given elsewhere: %+v", key, pod.SecurityContext)
			}
		}
	})
}

func restricted(t *testing.T, key string, pod corev1.PodSpec) {
	t.Helper()
	if !*pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault ||
		pod.HostNetwork || pod.HostPID || pod.HostIPC || len(pod.InitContainers) > 0 {
		t.Errorf("%s: %+v", key, pod.SecurityContext)
	}
	if *pod.AutomountServiceAccountToken {
		t.Errorf("%s: a token of Kubernetes' making is mounted", key)
	}
	for _, c := range pod.Containers {
		s := c.SecurityContext
		if *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !*s.RunAsNonRoot || fmt.Sprint(s.Capabilities.Drop) != "[ALL]" || len(s.Capabilities.Add) > 0 {
			t.Errorf("%s: %+v", key, s)
		}
		if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() || !c.Resources.Limits.Cpu().IsZero() {
			t.Errorf("%s: %+v", key, c.Resources)
		}
		for _, p := range c.Ports {
			if p.HostPort != 0 {
				t.Errorf("%s: port %d of the host", key, p.HostPort)
			}
		}
	}
	token := false
	for _, v := range pod.Volumes {
		if v.HostPath != nil {
			t.Errorf("%s: %s is a path of the host", key, v.Name)
		}
		if v.Projected != nil {
			token = token || v.Projected.Sources[0].ServiceAccountToken.Path == "token"
		}
	}
	if !token {
		t.Errorf("%s: no token", key)
	}
}

func TestTheWebhookIsMadeToLast(t *testing.T) {
	each(t, func(t *testing.T, s set) {
		d := s.deployment(t)
		pod := d.Spec.Template.Spec
		c := pod.Containers[0]
		if *d.Spec.Replicas != 2 || d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue() != 0 || d.Spec.Strategy.RollingUpdate.MaxSurge.IntValue() != 1 {
			t.Errorf("%d replicas, %+v", *d.Spec.Replicas, d.Spec.Strategy)
		}
		if grace := *pod.TerminationGracePeriodSeconds; grace < c.Lifecycle.PreStop.Sleep.Seconds+30 {
			t.Errorf("%d seconds of grace leave no time to finish reviews", grace)
		}
		replicasKeepApart(t, s, d)
		quota := get[*corev1.ResourceQuota](t, s, "ResourceQuota olmgate-critical-pods").Spec
		if !slices.Contains(quota.ScopeSelector.MatchExpressions[0].Values, pod.PriorityClassName) {
			t.Errorf("no quota for the class %s", pod.PriorityClassName)
		}
	})
}

// replicasKeepApart looks at what every Deployment of replicas has: probes, nodes that differ, a budget, and a soft limit
// of memory below the hard one.
func replicasKeepApart(t *testing.T, s set, d *appsv1.Deployment) {
	t.Helper()
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	probes := fmt.Sprint(c.StartupProbe.HTTPGet.Path, c.LivenessProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path)
	if probes != fmt.Sprint("/healthz", "/healthz", "/readyz") {
		t.Error(probes)
	}
	selector := d.Spec.Selector
	for _, spread := range pod.TopologySpreadConstraints {
		if diff := cmp.Diff(selector, spread.LabelSelector); diff != "" || spread.WhenUnsatisfiable != corev1.ScheduleAnyway {
			t.Errorf("%+v: %s", spread, diff)
		}
	}
	apart := pod.Affinity.PodAntiAffinity
	if len(apart.RequiredDuringSchedulingIgnoredDuringExecution) > 0 || !cmp.Equal(apart.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector, selector) {
		t.Errorf("%+v", apart)
	}
	budget := get[*policyv1.PodDisruptionBudget](t, s, "PodDisruptionBudget "+d.Name).Spec
	if budget.MaxUnavailable.IntValue() != 1 || *budget.UnhealthyPodEvictionPolicy != policyv1.AlwaysAllow || !cmp.Equal(budget.Selector, selector) {
		t.Errorf("%+v", budget)
	}
	limit := c.Resources.Limits.Memory().Value()
	for _, e := range c.Env {
		if e.Name != "GOMEMLIMIT" {
			continue
		}
		soft := resource.MustParse(strings.TrimSuffix(e.Value, "B"))
		if soft.Value() < limit*8/10 || soft.Value() > limit*9/10 {
			t.Errorf("GOMEMLIMIT=%s with a limit of %d bytes", e.Value, limit)
		}
	}
}

func TestTheNetworkPolicyIsForThePodsOnly(t *testing.T) {
	s := decode(t, "status-writer-monitored")
	for name, want := range map[string]map[string]bool{
		"olmgate":               {"webhook": true, "health": true, "metrics": false},
		"olmgate-status-writer": {"health": true, "metrics": false},
	} {
		t.Run(name, func(t *testing.T) {
			policy := get[*networkingv1.NetworkPolicy](t, s, "NetworkPolicy "+name).Spec
			deployment := get[*appsv1.Deployment](t, s, "Deployment "+name).Spec
			if !cmp.Equal(policy.PodSelector, *deployment.Selector) || len(policy.PolicyTypes) != 2 {
				t.Errorf("%+v", policy)
			}
			ports := map[string]int32{}
			for _, p := range deployment.Template.Spec.Containers[0].Ports {
				ports[p.Name] = p.ContainerPort
			}
			open := map[string]bool{}
			for _, rule := range policy.Ingress {
				for _, p := range rule.Ports {
					if ports[p.Port.StrVal] == 0 {
						t.Errorf("no port %s", p.Port.String())
					}
					open[p.Port.StrVal] = len(rule.From) == 0
				}
			}
			if diff := cmp.Diff(want, open); diff != "" {
				t.Error(diff)
			}
			egress := get[*networkingv1.NetworkPolicy](t, s, "NetworkPolicy olmgate").Spec.Egress
			if diff := cmp.Diff(egress, policy.Egress); diff != "" {
				t.Errorf("both call the API server, DNS and catalogd: %s", diff)
			}
		})
	}
}

// TestEveryObjectIsLabelled finds everything of olmgate's by one label, which is how it is uninstalled.
func TestEveryObjectIsLabelled(t *testing.T) {
	each(t, func(t *testing.T, s set) {
		for key, object := range s {
			o, err := meta.Accessor(object)
			if err != nil {
				t.Fatal(err)
			}
			labels := o.GetLabels()
			if labels["app.kubernetes.io/name"] != "olmgate" || labels["app.kubernetes.io/part-of"] != "olmgate" {
				t.Errorf("%s: %v", key, labels)
			}
			if labels["app.kubernetes.io/component"] == "" && !strings.HasPrefix(key, "Namespace ") {
				t.Errorf("%s belongs to no component", key)
			}
		}
	})
}

func TestNoFileNamesAHost(t *testing.T) {
	host := regexp.MustCompile(`image: *"?[a-z0-9.-]+\.[a-z]+/`)
	each(t, func(t *testing.T, s set) {
		_, name, _ := strings.Cut(t.Name(), "/")
		if found := host.FindString(render(t, name)); found != "" {
			t.Errorf("%s: there is no published image", found)
		}
	})
}
