package store

import (
	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// revision is one content of one ClusterCatalog object. An empty ref stands for nothing to load.
type revision struct {
	uid types.UID
	ref string
}

// wanted is the revision that should be loaded for a ClusterCatalog, and the address that it has.
func wanted(cc *ocv1.ClusterCatalog) (revision, string) {
	none := revision{uid: cc.UID}
	if cc.DeletionTimestamp != nil || cc.Spec.AvailabilityMode == ocv1.AvailabilityModeUnavailable || !serving(cc) {
		return none, ""
	}
	if cc.Status.URLs == nil || cc.Status.URLs.Base == "" {
		return none, ""
	}
	return revision{uid: cc.UID, ref: RefOf(cc)}, cc.Status.URLs.Base
}

// RefOf is the image with digest that the status says was unpacked, "" when there is none.
func RefOf(cc *ocv1.ClusterCatalog) string {
	if r := cc.Status.ResolvedSource; r != nil && r.Image != nil {
		return r.Image.Ref
	}
	return ""
}

func serving(cc *ocv1.ClusterCatalog) bool {
	return meta.IsStatusConditionTrue(cc.Status.Conditions, ocv1.TypeServing)
}

// older reports whether a was read before b was written. A read from the API server may be ahead of the watch, and
// what the watch brings afterwards must not undo it.
func older(a, b *ocv1.ClusterCatalog) bool {
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err == nil && order < 0
}
