package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An Exposure puts processes behind an existing Service.
type Exposure struct {
	// Namespace and Service name the Service.
	Namespace, Service string
	// IPs are the addresses the processes listen on; none: nobody answers.
	IPs []string
	// Ports maps the names of the Service's ports ("" for the only one) to the
	// ports the processes listen on.
	Ports map[string]int32
	// ServiceAccount of the stand-in pods; empty: "default", which is created.
	ServiceAccount string
}

// Expose makes the Service's EndpointSlice, and a Pod object for each address,
// without which the API server's service proxy would not go there.
func (c *Cluster) Expose(ctx context.Context, e Exposure) error {
	if e.ServiceAccount == "" {
		e.ServiceAccount = "default"
		err := c.Apply(ctx, corev1.ServiceAccount{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.ServiceAccount},
		})
		if err != nil {
			return err
		}
	}
	for i := range e.IPs {
		if err := c.applyPod(ctx, e, i); err != nil {
			return fmt.Errorf("making a pod for %s/%s: %w", e.Namespace, e.Service, err)
		}
	}
	if err := c.Apply(ctx, e.endpointSlice()); err != nil {
		return fmt.Errorf("making endpoints for %s/%s: %w", e.Namespace, e.Service, err)
	}
	return nil
}

// applyPod makes the Pod object of one address and gives it that address.
func (c *Cluster) applyPod(ctx context.Context, e Exposure, i int) error {
	if err := c.Apply(ctx, e.pod(i)); err != nil {
		return err
	}
	status, err := json.Marshal(map[string]any{"status": corev1.PodStatus{
		Phase:      corev1.PodRunning,
		PodIP:      e.IPs[i],
		PodIPs:     []corev1.PodIP{{IP: e.IPs[i]}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}})
	if err != nil {
		return err
	}
	_, _, err = c.Kubectl(ctx, nil, "patch", "pod", e.podName(i), "--namespace="+e.Namespace,
		"--subresource=status", "--type=merge", "--patch="+string(status))
	return err
}

func (e Exposure) podName(i int) string { return fmt.Sprintf("%s-%d", e.Service, i) }

func (e Exposure) endpointSlice() discoveryv1.EndpointSlice {
	ready := true
	endpoints := discoveryv1.EndpointSlice{
		TypeMeta: metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: e.Namespace,
			Name:      e.Service + "-processes",
			Labels: map[string]string{
				discoveryv1.LabelServiceName: e.Service,
				discoveryv1.LabelManagedBy:   "olmgate-e2e",
			},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
	}
	for i, ip := range e.IPs {
		endpoints.Endpoints = append(endpoints.Endpoints, discoveryv1.Endpoint{
			Addresses:  []string{ip},
			Conditions: discoveryv1.EndpointConditions{Ready: &ready},
			TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: e.Namespace, Name: e.podName(i)},
		})
	}
	protocol := corev1.ProtocolTCP
	for _, name := range slices.Sorted(maps.Keys(e.Ports)) {
		port := e.Ports[name]
		endpoints.Ports = append(endpoints.Ports, discoveryv1.EndpointPort{Name: &name, Port: &port, Protocol: &protocol})
	}
	return endpoints
}
