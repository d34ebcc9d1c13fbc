package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/source"
	"github.com/olmgate/olmgate/resolver"
)

// Known is a catalog that is known from elsewhere than the inputs: files, a snapshot, a cluster.
type Known struct {
	Object  *ocv1.ClusterCatalog
	Catalog resolver.Catalog
}

// Pull brings the content of the image that a ClusterCatalog names.
type Pull func(context.Context, *ocv1.ClusterCatalog) (catalog.Content, error)

// notAtHand is why a catalog that is only in a manifest has no content.
const notAtHand = "only its manifest is at hand (--catalog NAME=PATH gives its content)"

// describe joins the ClusterCatalogs of the inputs with what is known: of one name the manifest says how it is labelled
// and ranked, and the content stays. Those in gone are left out.
func describe(ctx context.Context, known []Known, manifests []*ocv1.ClusterCatalog, gone map[string]bool, pull Pull) ([]resolver.Catalog, error) {
	at := map[string]int{}
	var list []resolver.Catalog
	for _, k := range known {
		if !gone[k.Object.Name] {
			at[k.Object.Name] = len(list)
			list = append(list, k.Catalog)
		}
	}
	objects := map[string]*ocv1.ClusterCatalog{}
	for _, k := range known {
		objects[k.Object.Name] = k.Object
	}
	for _, cc := range manifests {
		i, there := at[cc.Name]
		content := catalog.Content{Problem: notAtHand}
		serving := true
		if there {
			content, serving = list[i].Content, list[i].Serving
			content = outdated(content, objects[cc.Name], cc)
		}
		if pull != nil && (content.Index == nil || content.Outdated) && cc.Spec.AvailabilityMode != ocv1.AvailabilityModeUnavailable {
			pulled, err := pull(ctx, cc)
			if err != nil {
				return nil, err
			}
			content = pulled
		}
		c := resolver.NewOfflineCatalog(cc, content)
		if len(cc.Status.Conditions) == 0 {
			c.Serving = serving
		}
		if there {
			list[i] = c
		} else {
			at[cc.Name] = len(list)
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b resolver.Catalog) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// outdated marks content that is of another image than the manifest names.
func outdated(content catalog.Content, had, wanted *ocv1.ClusterCatalog) catalog.Content {
	before, _ := source.ImageOf(had)
	after, _ := source.ImageOf(wanted)
	if content.Index != nil && before != "" && after != "" && before != after {
		content.Outdated, content.Problem = true, fmt.Sprintf("the content at hand is of %s, and the manifest names %s", before, after)
	}
	return content
}

// catalogsOf are the ClusterCatalogs of the inputs, the first of each name.
func catalogsOf(f *found) []*ocv1.ClusterCatalog {
	var list []*ocv1.ClusterCatalog
	seen := map[string]bool{}
	for _, o := range f.of(kindCatalog) {
		if o.cc != nil && !seen[o.name] {
			seen[o.name] = true
			list = append(list, o.cc)
		}
	}
	return list
}
