package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// endpoint is a ready address behind olmgate's Service.
type endpoint struct {
	address string // host:port
	pod     string // "" when unknown
}

func (d *doctor) workload(ctx context.Context) error {
	found := &appsv1.Deployment{}
	err := d.client.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: deployment}, found)
	if apierrors.IsNotFound(err) {
		d.fault("install olmgate, or name its namespace with --namespace", "there is no Deployment %s in namespace %s", deployment, d.Namespace)
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading Deployment %s/%s: %w", d.Namespace, deployment, err)
	}
	d.deployed = found
	if err := d.listPods(ctx); err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	want := int32(1)
	if found.Spec.Replicas != nil {
		want = *found.Spec.Replicas
	}
	ready := found.Status.ReadyReplicas
	next := fmt.Sprintf("kubectl -n %s logs deployment/%s; kubectl -n %s describe pods", d.Namespace, deployment, d.Namespace)
	switch {
	case want == 0:
		d.fault(fmt.Sprintf("kubectl -n %s scale deployment %s --replicas=2", d.Namespace, deployment), "Deployment %s is scaled to 0, so nobody answers", deployment)
	case ready == 0:
		d.fault(next, "no replica of Deployment %s is ready%s", deployment, d.podTroubles())
	case ready < want:
		d.warn(next, "%d of %d replicas of Deployment %s are ready%s", ready, want, deployment, d.podTroubles())
	case want == 1:
		d.warn(fmt.Sprintf("kubectl -n %s scale deployment %s --replicas=2", d.Namespace, deployment), "one replica is ready: while it restarts, nobody answers")
	default:
		d.ok("%d replicas are ready, image %s", ready, d.container().Image)
	}
	return nil
}

func (d *doctor) listPods(ctx context.Context) error {
	selector, err := metav1.LabelSelectorAsSelector(d.deployed.Spec.Selector)
	if err != nil {
		return fmt.Errorf("reading the selector of Deployment %s: %w", deployment, err)
	}
	var pods corev1.PodList
	if err := d.client.List(ctx, &pods, client.InNamespace(d.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return fmt.Errorf("listing the Pods of Deployment %s: %w", deployment, err)
	}
	d.pods = pods.Items
	return nil
}

// container is olmgate's own in the Deployment.
func (d *doctor) container() corev1.Container {
	containers := d.deployed.Spec.Template.Spec.Containers
	for _, c := range containers {
		if c.Name == container {
			return c
		}
	}
	if len(containers) > 0 {
		return containers[0]
	}
	return corev1.Container{}
}

// podTroubles is what the Pods say about not being ready, as the end of a sentence.
func (d *doctor) podTroubles() string {
	var texts []string
	for i := range d.pods {
		for _, t := range troubles(&d.pods[i]) {
			if !slices.Contains(texts, t) {
				texts = append(texts, t)
			}
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return ": " + strings.Join(texts, "; ")
}

func troubles(p *corev1.Pod) []string {
	var out []string
	for _, c := range p.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil && w.Reason != "ContainerCreating" {
			out = append(out, strings.TrimSuffix(w.Reason+": "+w.Message, ": "))
		}
		if t := c.LastTerminationState.Terminated; t != nil && t.ExitCode != 0 {
			out = append(out, fmt.Sprintf("it ended with %s (exit status %d)", t.Reason, t.ExitCode))
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			out = append(out, strings.TrimSuffix(c.Reason+": "+c.Message, ": "))
		}
	}
	return out
}

func (d *doctor) serviceEndpoints(ctx context.Context) error {
	name := service
	key := client.ObjectKey{Namespace: d.Namespace, Name: name}
	found := &corev1.Service{}
	err := d.client.Get(ctx, key, found)
	if apierrors.IsNotFound(err) {
		d.fault("apply olmgate's manifests again", "there is no Service %s in namespace %s, so the API server reaches nobody", name, d.Namespace)
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading Service %s: %w", key, err)
	}
	var slicesOf discoveryv1.EndpointSliceList
	if err := d.client.List(ctx, &slicesOf, client.InNamespace(d.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: name}); err != nil {
		return fmt.Errorf("listing the EndpointSlices of Service %s: %w", key, err)
	}
	d.endpoints = readyEndpoints(slicesOf.Items)
	if len(d.endpoints) == 0 {
		d.fault("compare the Service's selector with the labels of the Pods, and see whether those are ready", "Service %s leads to no ready Pod", name)
		return nil
	}
	var addresses []string
	for _, e := range d.endpoints {
		addresses = append(addresses, e.address)
	}
	d.ok("Service %s leads to %s", name, strings.Join(addresses, ", "))
	return nil
}

// readyEndpoints are the ready addresses, each once: an address can be in two slices while it moves.
func readyEndpoints(list []discoveryv1.EndpointSlice) []endpoint {
	var out []endpoint
	for _, s := range list {
		port := int32(0)
		for _, p := range s.Ports {
			if p.Port != nil && (port == 0 || p.Name != nil && *p.Name == "webhook") {
				port = *p.Port
			}
		}
		for _, e := range s.Endpoints {
			if port == 0 || e.Conditions.Ready != nil && !*e.Conditions.Ready {
				continue
			}
			pod := ""
			if e.TargetRef != nil && e.TargetRef.Kind == "Pod" {
				pod = e.TargetRef.Name
			}
			for _, a := range e.Addresses {
				out = append(out, endpoint{address: net.JoinHostPort(a, strconv.Itoa(int(port))), pod: pod})
			}
		}
	}
	slices.SortFunc(out, func(a, b endpoint) int { return cmp.Compare(a.address, b.address) })
	return slices.CompactFunc(out, func(a, b endpoint) bool { return a.address == b.address })
}
