package cluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod is an object that never runs. It keeps the rules of the "restricted" pod
// security standard, which OLM's namespace enforces.
func (e Exposure) pod(i int) corev1.Pod {
	yes, no := true, false
	return corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   e.Namespace,
			Name:        e.podName(i),
			Labels:      map[string]string{"app.kubernetes.io/managed-by": "olmgate-e2e"},
			Annotations: map[string]string{"olmgate.dev/note": "stands for a process of the end-to-end tests"},
		},
		Spec: corev1.PodSpec{
			// No scheduler has this name: where there is a node, it must stay away.
			SchedulerName:                "olmgate-e2e-nobody",
			ServiceAccountName:           e.ServiceAccount,
			AutomountServiceAccountToken: &no,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   &yes,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name:  "process",
				Image: "example.invalid/process:none",
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: &no,
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}
