package webhook

import (
	"errors"
	"fmt"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	admissionv1 "k8s.io/api/admission/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	extensionGroup = "olm.operatorframework.io"
	extensionKind  = "ClusterExtension"
)

// object is what a review needs of a ClusterExtension. Only these fields are decoded: the rest, such as managedFields,
// is most of an object, and nothing that olmgate does not judge by should be able to stop it.
type object struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name              string            `json:"name"`
		GenerateName      string            `json:"generateName"`
		DeletionTimestamp *metav1.Time      `json:"deletionTimestamp"`
		Annotations       map[string]string `json:"annotations"`
	} `json:"metadata"`
	// Spec is nil when there is none: the CRD lets such an object through.
	Spec *struct {
		Source ocv1.SourceConfig `json:"source"`
	} `json:"spec"`
	Status struct {
		Install    *ocv1.ClusterExtensionInstallStatus `json:"install"`
		Conditions []struct {
			Type   string                 `json:"type"`
			Status metav1.ConditionStatus `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

// extension is the object as the resolver takes it.
func (o *object) extension() *ocv1.ClusterExtension {
	ext := &ocv1.ClusterExtension{TypeMeta: o.TypeMeta}
	ext.Name = o.Metadata.Name
	if ext.Name == "" {
		ext.Name = o.Metadata.GenerateName
	}
	if o.Spec != nil {
		ext.Spec.Source = o.Spec.Source
	}
	ext.Status.Install = o.Status.Install
	for _, c := range o.Status.Conditions {
		ext.Status.Conditions = append(ext.Status.Conditions, metav1.Condition{Type: c.Type, Status: c.Status})
	}
	return ext
}

// sameSource reports whether two versions of an object ask for the same: an empty list and an absent one are equal.
func sameSource(a, b *object) bool {
	if (a.Spec == nil) != (b.Spec == nil) {
		return false
	}
	return a.Spec == nil || apiequality.Semantic.DeepEqual(a.Spec.Source, b.Spec.Source)
}

// decodeObject reads a ClusterExtension of a request.
func decodeObject(raw []byte) (*object, error) {
	if len(raw) == 0 {
		return nil, errors.New("it is empty")
	}
	o := &object{}
	if err := unmarshal(raw, o); err != nil {
		return nil, fmt.Errorf("it cannot be decoded: %w", err)
	}
	if o.Kind != extensionKind || o.GroupVersionKind().Group != extensionGroup {
		return nil, fmt.Errorf("it is a %s of %q", o.Kind, o.APIVersion)
	}
	return o, nil
}

// checkKind reports a request about anything but ClusterExtensions, which only a mistake in the
// ValidatingWebhookConfiguration can send.
func checkKind(req *admissionv1.AdmissionRequest) error {
	if req.Kind.Group != extensionGroup || req.Kind.Kind != extensionKind {
		return fmt.Errorf("it is about %s of group %q; check the rules of the ValidatingWebhookConfiguration", req.Kind.Kind, req.Kind.Group)
	}
	return nil
}
