package webhook

import (
	"errors"
	"fmt"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	admissionv1 "k8s.io/api/admission/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
)

const (
	extensionGroup = "olm.operatorframework.io"
	extensionKind  = "ClusterExtension"
)

// object is a ClusterExtension of which it is known whether it has a spec: the CRD lets one without any spec through.
type object struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta           `json:"metadata"`
	Spec            *ocv1.ClusterExtensionSpec  `json:"spec"`
	Status          ocv1.ClusterExtensionStatus `json:"status"`
}

// extension is the object as the resolver takes it.
func (o *object) extension() *ocv1.ClusterExtension {
	ext := &ocv1.ClusterExtension{TypeMeta: o.TypeMeta, ObjectMeta: o.Metadata, Status: o.Status}
	if o.Spec != nil {
		ext.Spec = *o.Spec
	}
	if ext.Name == "" {
		ext.Name = ext.GenerateName
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
	if err := json.Unmarshal(raw, o); err != nil {
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
