package resolver

import (
	"github.com/olmgate/olmgate/catalog"
)

// pathWork bounds the search for an upgrade path, counted in edges looked at: a hostile catalog must not hold up a
// review. Real packages need a few thousand.
const pathWork = 300_000

// path is the shortest chain of upgrades from the installed bundle to one that the version range and the requested
// channels admit, by edges of the channels that count. The first element is the first hop; nil when there is none or
// the search took too long. Of several targets at one distance the best by the order of choice is taken.
func (e *evaluation) path() []*catalog.Bundle {
	const target = usable | inChannels | inVersion
	return e.search(usable, true, func(i int) bool { return e.flags[i]&target == target })
}

// search is the shortest chain of upgrades from the installed bundle to a target, over bundles that have all bits of
// through, by edges of the requested channels or of all.
func (e *evaluation) search(through uint8, requested bool, target func(i int) bool) []*catalog.Bundle {
	p := e.pkg
	previous := make([]int, len(p.Bundles)) // position+2 of the bundle before, 1 for the installed one, 0 when unseen
	var work int
	var frontier []int
	for _, i := range e.hops(e.installed.name, e.installed, through, requested, &work) {
		if previous[i] == 0 { // several channels may lead there
			previous[i] = 1
			frontier = append(frontier, i)
		}
	}
	for len(frontier) > 0 {
		best := -1
		for _, i := range frontier {
			if target(i) && (best < 0 || e.better(i, best)) {
				best = i
			}
		}
		if best >= 0 {
			return e.trail(previous, best)
		}
		var next []int
		for _, i := range frontier {
			b := &p.Bundles[i]
			from := &installedBundle{name: b.Name, parsed: true, version: b.Version, release: b.Release}
			for _, j := range e.hops(b.Name, from, through, requested, &work) {
				if previous[j] == 0 {
					previous[j] = i + 2
					next = append(next, j)
				}
			}
			if work > pathWork {
				return nil
			}
		}
		frontier = next
	}
	return nil
}

// hops are the positions of the bundles with these bits that an edge leads to from a bundle.
func (e *evaluation) hops(name string, from *installedBundle, bits uint8, requested bool, work *int) []int {
	var list []int
	e.eachChannel(requested, func(c *catalog.Channel) {
		for i := range c.Entries {
			if *work++; *work > pathWork {
				return
			}
			n := &c.Entries[i]
			if n.Bundle < 0 || !e.leads(n, name, from.versionOrNil()) {
				continue
			}
			for j := n.Bundle; j < len(e.pkg.Bundles) && e.pkg.Bundles[j].Name == n.Name; j++ {
				if e.flags[j]&bits == bits {
					list = append(list, j)
				}
			}
		}
	})
	return list
}

// trail follows the search back from a target.
func (e *evaluation) trail(previous []int, at int) []*catalog.Bundle {
	var list []*catalog.Bundle
	for {
		list = append(list, &e.pkg.Bundles[at])
		if previous[at] == 1 {
			break
		}
		at = previous[at] - 2
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}
