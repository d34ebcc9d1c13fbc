package source

import (
	"fmt"
	"slices"
	"strings"
)

// Overlay puts catalogs over others: of two with one name, the manifest and the content above come before those below,
// each for itself. Content above without a manifest keeps what is known of the catalog below. Of two snapshots the one
// above counts whole. replaced says in words, by catalog, what came before what.
//
// A manifest above may name another image than the one that the snapshot below has the content of: that content is
// outdated then.
func Overlay(below, above []Offline) (all []Offline, replaced []string) {
	at := map[string]int{}
	all = slices.Clone(below)
	for i := range all {
		at[all[i].Catalog.Name] = i
	}
	for _, o := range above {
		i, both := at[o.Catalog.Name]
		if !both {
			all = append(all, o)
			continue
		}
		var said []string
		all[i], said = over(all[i], o)
		replaced = append(replaced, said...)
	}
	slices.SortFunc(all, func(a, b Offline) int { return strings.Compare(a.Catalog.Name, b.Catalog.Name) })
	slices.Sort(replaced)
	return all, replaced
}

func over(below, above Offline) (result Offline, said []string) {
	say := func(what, from string) {
		said = append(said, fmt.Sprintf("catalog %s: %s is that of %s, not that of %s", above.Catalog.Name, what, from, below.Snapshot))
	}
	if above.Snapshot != "" {
		say("all of it", above.Snapshot)
		return above, said
	}
	result = below
	if above.Manifest != "" {
		say("the manifest", above.Manifest)
		result.Catalog, result.Manifest = above.Catalog, above.Manifest
	}
	switch from := above.From(); {
	case from != "":
		say("the content", from)
		result.Path, result.Image, result.ByHand, result.Content = above.Path, above.Image, above.ByHand, nil
		if above.Manifest == "" {
			// The revision that the snapshot has is not that of the content.
			result.Catalog = below.Catalog.DeepCopy()
			result.Catalog.Status.ResolvedSource = nil
		}
	case below.Content != nil && below.Content.Index != nil && above.Manifest != "":
		had, _ := ImageOf(below.Catalog)
		wanted, _ := ImageOf(above.Catalog)
		if had != "" && wanted != "" && had != wanted {
			content := *below.Content
			content.Outdated, content.Problem = true, fmt.Sprintf("the snapshot has the content of %s, and the manifest names %s", had, wanted)
			result.Content = &content
		}
	}
	return result, said
}
