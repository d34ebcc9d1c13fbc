package check

import (
	"maps"
	"slices"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/resolver"
)

// others are the installed extensions that neither side has a manifest of, by name.
func (o *Options) others(before, after *side) []*ocv1.ClusterExtension {
	here := map[string]bool{}
	for _, d := range slices.Concat(before.judged, after.judged) {
		here[d.name] = here[d.name] || d.isExtension()
	}
	var list []*ocv1.ClusterExtension
	for _, name := range slices.Sorted(maps.Keys(o.Installed)) {
		if ext := o.Installed[name]; !here[name] && resolver.Judges(ext) {
			list = append(list, ext)
		}
	}
	return list
}

// elsewhere judges extensions that no file of the inputs has.
func elsewhere(list []*ocv1.ClusterExtension, catalogs []resolver.Catalog, rule resolver.Rule) []*judged {
	var all []*judged
	for _, ext := range list {
		v := resolver.Resolve(ext, catalogs, rule)
		all = append(all, &judged{object: &object{kind: kindExtension, name: ext.Name, ext: ext}, verdict: &v})
	}
	return all
}
