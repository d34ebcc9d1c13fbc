package resolver

import (
	"cmp"
	"slices"

	"github.com/olmgate/olmgate/catalog"
)

// deprecations are the entries of the selected catalog that concern the extension: those of the package, of the
// requested channels (of every channel when none is requested), of the chosen bundle and of the installed one.
func (e *evaluation) deprecations() []Deprecation {
	list := []Deprecation{}
	chosen := e.chosen()
	for _, d := range e.pkg.Deprecations {
		switch d.Schema {
		case catalog.SchemaPackage:
			list = append(list, Deprecation{ScopePackage, e.pkg.Name, d.Message})
		case catalog.SchemaChannel:
			if len(e.req.channels) == 0 || slices.Contains(e.req.channels, d.Name) {
				list = append(list, Deprecation{ScopeChannel, d.Name, d.Message})
			}
		case catalog.SchemaBundle:
			if chosen != nil && chosen.Name == d.Name {
				list = append(list, Deprecation{ScopeBundle, d.Name, d.Message})
			}
			if e.req.installed != nil && e.req.installed.name == d.Name {
				list = append(list, Deprecation{ScopeInstalledBundle, d.Name, d.Message})
			}
		}
	}
	slices.SortFunc(list, func(a, b Deprecation) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Message, b.Message))
	})
	return list
}

// holders are the names of the channels that hold a bundle.
func (e *evaluation) holders(bundle string) []string {
	var list []string
	for i := range e.pkg.Channels {
		ch := &e.pkg.Channels[i]
		if _, ok := slices.BinarySearchFunc(ch.Entries, bundle, func(n catalog.Entry, name string) int { return cmp.Compare(n.Name, name) }); ok {
			list = append(list, ch.Name)
		}
	}
	return list
}
