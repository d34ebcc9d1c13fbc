package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

const statusWriter = "Deployment olmgate-status-writer"

func TestTheStatusWriterIsMadeToLast(t *testing.T) {
	for _, name := range []string{"status-writer", "status-writer-openshift", "other-namespace-status-writer"} {
		t.Run(name, func(t *testing.T) {
			s := decode(t, name)
			d := get[*appsv1.Deployment](t, s, statusWriter)
			if *d.Spec.Replicas != 2 || d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue() != 0 || d.Spec.Strategy.RollingUpdate.MaxSurge.IntValue() != 1 {
				t.Errorf("%d replicas, %+v", *d.Spec.Replicas, d.Spec.Strategy)
			}
			replicasKeepApart(t, s, d)
			if class := d.Spec.Template.Spec.PriorityClassName; class != "" {
				t.Errorf("nobody waits for a write: it must not push out others by the class %s", class)
			}
		})
	}
}

// TestTheStatusWriterFitsIn compares its Deployment with the rest, and with the webhook's.
func TestTheStatusWriterFitsIn(t *testing.T) {
	s := decode(t, "status-writer-monitored")
	writer, webhook := get[*appsv1.Deployment](t, s, statusWriter).Spec, s.deployment(t).Spec
	pod := writer.Template
	container := pod.Spec.Containers[0]
	equal := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	for key, value := range writer.Selector.MatchLabels {
		equal("label "+key+" of the pods", pod.Labels[key], value)
	}
	if cmp.Equal(writer.Selector, webhook.Selector) {
		t.Error("the API server would call the status writer")
	}
	ports := map[string]int32{}
	for _, p := range container.Ports {
		ports[p.Name] = p.ContainerPort
	}
	equal("ports", ports, map[string]int32{"metrics": 8080, "health": 8081})
	equal("arguments", container.Args, []string{
		"status-writer", "--metrics-bind-address=:8080", "--health-probe-bind-address=:8081",
		"--catalogd-ca=" + container.VolumeMounts[1].MountPath + "/ca.crt", "--cache-dir=" + container.VolumeMounts[0].MountPath,
	})
	equal("account", pod.Spec.ServiceAccountName, get[*corev1.ServiceAccount](t, s, "ServiceAccount olmgate-status-writer").Name)
	equal("security of the pod", pod.Spec.SecurityContext, webhook.Template.Spec.SecurityContext)
	equal("security of the container", container.SecurityContext, webhook.Template.Spec.Containers[0].SecurityContext)
	equal("volumes", pod.Spec.Volumes, webhook.Template.Spec.Volumes)
	equal("memory", container.Resources.Limits, webhook.Template.Spec.Containers[0].Resources.Limits)

	// Prometheus finds its replicas under a job of their own: "olmgate" is down when the webhook is.
	metrics := get[*corev1.Service](t, s, "Service olmgate-status-writer")
	equal("selector of the metrics", metrics.Spec.Selector, writer.Selector.MatchLabels)
	equal("target port of the metrics", metrics.Spec.Ports[0].TargetPort.StrVal, "metrics")
	for monitor, service := range map[string]string{"olmgate": "olmgate-metrics", "olmgate-status-writer": "olmgate-status-writer"} {
		var found []string
		for _, key := range slices.Sorted(maps.Keys(s)) {
			if svc, ok := s[key].(*corev1.Service); ok && svc.Labels["app.kubernetes.io/component"] == text(t, s, "ServiceMonitor "+monitor, "spec", "selector", "matchLabels", "app.kubernetes.io/component") {
				found = append(found, svc.Name)
			}
		}
		equal("what the ServiceMonitor "+monitor+" finds", found, []string{service})
	}
}

// TestTheStatusWriterReadsTheServiceCA: on OpenShift there is no Secret with catalogd's CA.
func TestTheStatusWriterReadsTheServiceCA(t *testing.T) {
	s := decode(t, "status-writer-openshift")
	writer, webhook := get[*appsv1.Deployment](t, s, statusWriter).Spec.Template.Spec, s.deployment(t).Spec.Template.Spec
	find := func(pod corev1.PodSpec) corev1.Volume {
		i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "catalogd-ca" })
		if i < 0 {
			t.Fatal("no volume catalogd-ca")
		}
		return pod.Volumes[i]
	}
	if diff := cmp.Diff(find(webhook), find(writer)); diff != "" || find(writer).ConfigMap == nil {
		t.Error(diff)
	}
}

// TestWhereStatusIsWritten: a Deployment of its own leaves the webhook and its rights as they were; in the webhook's
// process it is one flag.
func TestWhereStatusIsWritten(t *testing.T) {
	without := decode(t, "enforce")
	for name, flag := range map[string][]string{"status-writer": nil, "write-status": {"--write-status"}} {
		t.Run(name, func(t *testing.T) {
			s := decode(t, name)
			args := slices.Concat(without.deployment(t).Spec.Template.Spec.Containers[0].Args, flag)
			if diff := cmp.Diff(args, s.deployment(t).Spec.Template.Spec.Containers[0].Args); diff != "" {
				t.Error(diff)
			}
			for _, key := range slices.Sorted(maps.Keys(without)) {
				if key != "Deployment olmgate" || flag == nil {
					if diff := cmp.Diff(without[key], s[key]); diff != "" {
						t.Errorf("%s: %s", key, diff)
					}
				}
			}
			binding := get[*rbacv1.ClusterRoleBinding](t, s, "ClusterRoleBinding olmgate-status-writer")
			account := map[bool]string{true: "olmgate-status-writer", false: "olmgate"}[flag == nil]
			if got := binding.Subjects[0].Name; got != account {
				t.Errorf("%s may write status", got)
			}
		})
	}
}

// TestComponentsComposeInAnyOrder: only openshift must come behind what it changes.
func TestComponentsComposeInAnyOrder(t *testing.T) {
	const name = "status-writer-monitored"
	want := decode(t, name)
	components := installations[name].components
	for _, order := range [][]int{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		in := installations[name]
		in.components = nil
		for _, i := range order {
			in.components = append(in.components, components[i])
		}
		t.Run(strings.ReplaceAll(strings.Join(in.components, ","), "components/", ""), func(t *testing.T) {
			rendered, err := in.build(t)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, decodeText(t, name, rendered)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestStatusIsWrittenInOnePlace: kustomize refuses both components at once, since both have the same roles.
func TestStatusIsWrittenInOnePlace(t *testing.T) {
	rendered, err := with("overlays/enforce", "status-writer", "write-status").build(t)
	if err == nil || !strings.Contains(fmt.Sprint(err), "olmgate-status-writer") {
		t.Errorf("want an error about olmgate-status-writer, got %v and\n%s", err, rendered)
	}
}
