package webhook

import (
	"context"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/olmgate/olmgate/resolver"
)

// operationCounts reports whether requests of this kind are judged at all: in an incident deletion, status and
// finalizers must go through whatever olmgate thinks.
func operationCounts(req *admission.Request) bool {
	if req.SubResource != "" {
		return false
	}
	return req.Operation == admissionv1.Create || req.Operation == admissionv1.Update
}

// changeCounts reports whether a request asks for something new: not when the object is being deleted, an update leaves
// spec.source as it is, or the source is of a type that olmgate does not judge.
func changeCounts(req *admission.Request, obj *object) (bool, error) {
	if obj.Metadata.DeletionTimestamp != nil {
		return false, nil
	}
	if req.Operation == admissionv1.Update && len(req.OldObject.Raw) > 0 {
		old, err := decodeObject(req.OldObject.Raw)
		if err != nil {
			return false, err
		}
		if sameSource(old, obj) {
			return false, nil
		}
	}
	return resolver.Judges(obj.extension()), nil
}

func (h *Handler) resolve(ext *ocv1.ClusterExtension, items []ocv1.ClusterCatalog) resolver.Verdict {
	catalogs := make([]resolver.Catalog, len(items))
	for i := range items {
		catalogs[i] = resolver.NewCatalog(&items[i], h.Content(&items[i]))
	}
	return h.Resolve(ext, catalogs, h.Rule)
}

// confirm resolves again with the ClusterCatalogs that the API server has now: informers lag, and a catalog created or
// a priority raised a moment ago would make the denial wrong. When they cannot be listed, the denial becomes a warning.
func (h *Handler) confirm(ctx context.Context, ext *ocv1.ClusterExtension, v resolver.Verdict) (resolver.Verdict, decision) {
	items, err := h.fresh.get(ctx)
	if err != nil {
		h.Log.Warn("a denial could not be confirmed and becomes a warning", "extension", ext.Name, "error", err)
		return v, decide(&v, h.Policy, h.Mode, sparedByFreshList)
	}
	v = h.resolve(ext, items)
	return v, decide(&v, h.Policy, h.Mode, "")
}
