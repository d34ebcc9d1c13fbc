package store

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Phase is how it stands with the content of a catalog.
type Phase string

const (
	// Current means that the content is of the revision that the status names.
	Current Phase = "Current"
	// Outdated means that content of an earlier revision answers, since the current one is being loaded or cannot be.
	Outdated Phase = "Outdated"
	// Loading means that there is no content yet, and it is being loaded.
	Loading Phase = "Loading"
	// Failed means that there is no content, since loading it failed. It is tried again.
	Failed Phase = "Failed"
	// NotServing means that catalogd does not serve the catalog, so that nothing is loaded. Content that was loaded before still
	// answers.
	NotServing Phase = "NotServing"
)

// Phases are all phases, for metrics that have one series each.
var Phases = []Phase{Current, Outdated, Loading, Failed, NotServing}

// State describes the content of one catalog, for metrics, readiness and people who debug.
type State struct {
	// Name and UID of the ClusterCatalog.
	Name string
	UID  types.UID
	// Phase is how it stands, Why the reason in words; "" when Current.
	Phase Phase
	Why   string
	// Ref is the image with digest that the content is of, "" without content. Wanted is the one that the status names,
	// "" when nothing is to be loaded.
	Ref, Wanted string
	// Loaded is when the content came, the zero time without content.
	Loaded time.Time
	// Failures counts failed loads of Wanted in a row.
	Failures int
	// Packages and Bundles count what the content holds. Bytes is the size of the FBC text that it was made of.
	Packages, Bundles int
	Bytes             int64
}

// States describes every catalog that is known, by name.
func (s *Store) States() []State {
	views := *s.views.Load()
	all := make([]State, 0, len(views))
	for _, v := range views {
		all = append(all, v.state)
	}
	slices.SortFunc(all, func(a, b State) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func stateOf(t *tracked, v view) State {
	st := State{Name: t.cc.Name, UID: t.cc.UID, Wanted: t.want.ref, Failures: t.failures}
	if t.loaded != nil {
		stats := t.loaded.index.Stats()
		st.Ref, st.Loaded = t.loaded.of.ref, t.loaded.at
		st.Packages, st.Bundles, st.Bytes = stats.Packages, stats.Bundles, stats.Bytes
	}
	switch {
	case t.want.ref == "":
		st.Phase, st.Why = NotServing, "it is not serving; what was loaded before is used"
		if t.loaded == nil {
			st.Why = v.missing(t.cc)
		}
	case t.loaded != nil && t.loaded.of == t.want:
		st.Phase = Current
	case t.loaded != nil:
		st.Phase, st.Why = Outdated, v.outdated(t.want.ref)
	case t.err != nil:
		st.Phase, st.Why = Failed, v.missing(t.cc)
	default:
		st.Phase, st.Why = Loading, v.missing(t.cc)
	}
	return st
}
