package source

import (
	"fmt"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/snapshot"
)

// OpenSnapshot returns the catalogs of a snapshot as Discover returns those of a directory. Errors name the file.
func OpenSnapshot(path string, limits catalog.Limits) ([]Offline, error) {
	s, err := snapshot.ReadFile(path, limits)
	if err != nil {
		return nil, fmt.Errorf("reading catalogs: %w", err)
	}
	all := make([]Offline, len(s.Catalogs))
	for i := range s.Catalogs {
		c := &s.Catalogs[i]
		all[i] = Offline{Catalog: objectOf(c, s.Created), Snapshot: path, Content: &catalog.Content{Index: c.Index, Outdated: c.Outdated, Problem: c.Problem}}
		if c.Index == nil && c.Problem == "" {
			all[i].Content.Problem = "the snapshot has none"
		}
	}
	return all, nil
}

// objectOf is the object that a catalog of a snapshot was made of, as far as the snapshot knows it.
func objectOf(c *snapshot.Catalog, at time.Time) *ocv1.ClusterCatalog {
	cc := emptyCatalog(c.Name)
	cc.Labels = c.Labels
	cc.Spec.Priority = c.Priority
	cc.Spec.AvailabilityMode = ocv1.AvailabilityModeAvailable
	if c.Unavailable {
		cc.Spec.AvailabilityMode = ocv1.AvailabilityModeUnavailable
	}
	if c.Deleting {
		cc.DeletionTimestamp = &metav1.Time{Time: at}
	}
	SetImage(cc, c.Image, c.Resolved)
	serving := metav1.ConditionFalse
	if c.Serving {
		serving = metav1.ConditionTrue
	}
	cc.Status.Conditions = []metav1.Condition{{Type: ocv1.TypeServing, Status: serving}}
	return cc
}

// emptyCatalog has nothing but a name.
func emptyCatalog(name string) *ocv1.ClusterCatalog {
	return &ocv1.ClusterCatalog{
		TypeMeta:   metav1.TypeMeta{APIVersion: ocv1.GroupVersion.String(), Kind: kindCatalog},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
}

// SetImage notes the image that a catalog comes from, and the one with a digest that its content is of. "" is unknown.
func SetImage(cc *ocv1.ClusterCatalog, ref, resolved string) {
	if ref != "" {
		cc.Spec.Source = ocv1.CatalogSource{Type: ocv1.SourceTypeImage, Image: &ocv1.ImageSource{Ref: ref}}
	}
	if resolved != "" {
		cc.Status.ResolvedSource = &ocv1.ResolvedCatalogSource{Type: ocv1.SourceTypeImage, Image: &ocv1.ResolvedImageSource{Ref: resolved}}
	}
}

// ImageOf is the image that a catalog is to come from, and the one with a digest that its content is of; "" when
// unknown.
func ImageOf(cc *ocv1.ClusterCatalog) (ref, resolved string) {
	if cc.Spec.Source.Image != nil {
		ref = cc.Spec.Source.Image.Ref
	}
	if s := cc.Status.ResolvedSource; s != nil && s.Image != nil {
		resolved = s.Image.Ref
	}
	return ref, resolved
}
