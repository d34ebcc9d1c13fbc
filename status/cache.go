package status

import (
	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CacheOptions are for the cache of a manager that a Writer works in: it keeps what the Writer needs.
func CacheOptions() cache.Options {
	return cache.Options{
		ByObject: map[client.Object]cache.ByObject{
			&ocv1.ClusterCatalog{}: {Transform: cache.TransformStripManagedFields()},
			// The Writer changes nothing in what it reads.
			&ocv1.ClusterExtension{}: {UnsafeDisableDeepCopy: ptr.To(true), Transform: func(o any) (any, error) {
				if ext, ok := o.(*ocv1.ClusterExtension); ok {
					ext.ManagedFields = slimManagedFields(ext.ManagedFields)
					ext.Annotations = nil
				}
				return o, nil
			}},
		},
	}
}
