package resolver

import (
	"cmp"
	"slices"

	"github.com/olmgate/olmgate/catalog"
)

// entrant is a catalog with what a request makes of it.
type entrant struct {
	*Catalog
	// considered is false for catalogs that are left out; why says for what reason.
	considered bool
	why        string
	pkg        *catalog.Package // nil when the content at hand does not contain the package
	eval       *evaluation      // set when pkg is
}

func (c *entrant) known() bool { return c.Content.Index != nil }

// field is all catalogs of a resolution, by priority descending, then name.
type field struct {
	req  *request
	all  []entrant
	left []*entrant // the considered ones, in the same order
}

// gather sorts the catalogs and finds out which are considered and what they hold.
func gather(r *request, catalogs []Catalog) *field {
	f := &field{req: r, all: make([]entrant, len(catalogs))}
	for i := range catalogs {
		f.all[i].Catalog = &catalogs[i]
	}
	slices.SortStableFunc(f.all, func(a, b entrant) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Name, b.Name))
	})
	for i := range f.all {
		c := &f.all[i]
		if c.known() {
			if p := c.Content.Index.Package(r.pkg); p.Contained() {
				c.pkg = p
			}
		}
		switch {
		case !r.selector.Matches(labelled{c.Catalog}):
			c.why = "the selector does not match it"
		case c.Deleting:
			c.why = "it is being deleted"
		case c.Unavailable:
			c.why = "its availabilityMode is Unavailable"
		default:
			c.considered = true
			f.left = append(f.left, c)
			if c.pkg != nil {
				c.eval = evaluate(r, c.pkg)
			}
		}
	}
	return f
}

// answer is what a selection rule makes of the catalogs.
type answer struct {
	outcome Outcome
	reason  Reason
	// from is the selected catalog, nil when none was.
	from *entrant
	// tied are the catalogs of AmbiguousCatalogs.
	tied []*entrant
	// unknown are the catalogs whose content is missing and matters, or would have.
	unknown []*entrant
	blame   blame
	// decided is the priority of the last group that was looked at, for the trace.
	decided *int32
}

// within is the answer of one selected catalog.
func within(c *entrant) answer {
	a := answer{outcome: OutcomeResolved, reason: Resolved, from: c, decided: &c.Priority}
	if c.eval.best < 0 {
		a.outcome, a.blame = OutcomeFailed, c.eval.blame()
		a.reason = a.blame.reason
	}
	return a
}

func undecided(unknown []*entrant) answer {
	return answer{outcome: OutcomeUndecided, reason: CatalogContentUnavailable, unknown: unknown}
}

func (f *field) answer(rule Rule) answer {
	if len(f.left) == 0 {
		return answer{outcome: OutcomeFailed, reason: NoCatalogsSelected}
	}
	if rule == RuleBundle {
		return f.byBundle()
	}
	return f.byPackage()
}

// byPackage walks the priority groups from the highest. The group that decides is the first in which a catalog
// contains the package, unless a catalog without content could have decided before it.
func (f *field) byPackage() answer {
	var pending []*entrant // catalogs of higher groups that could contain the package
	for rest := f.left; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Priority == rest[0].Priority {
			n++
		}
		var holders, unknown []*entrant
		for _, c := range rest[:n] {
			switch {
			case c.pkg != nil:
				holders = append(holders, c)
			case !c.known():
				unknown = append(unknown, c)
			}
		}
		rest = rest[n:]
		switch {
		case len(holders) == 0:
			pending = append(pending, unknown...)
		case len(holders) > 1 && len(pending) > 0:
			return undecided(pending)
		case len(holders) > 1:
			return answer{outcome: OutcomeFailed, reason: AmbiguousCatalogs, tied: holders, decided: &holders[0].Priority}
		default:
			a := within(holders[0])
			switch {
			case a.outcome == OutcomeResolved && len(pending)+len(unknown) > 0:
				return undecided(append(pending, unknown...))
			case len(pending) > 0:
				return undecided(pending)
			}
			a.unknown = unknown // fails either way: alone, or by a tie
			return a
		}
	}
	if len(pending) > 0 {
		return undecided(pending)
	}
	return answer{outcome: OutcomeFailed, reason: PackageNotFound}
}

// byBundle compares the best bundle of each catalog, as operator-controller 1.0 to 1.11 does.
func (f *field) byBundle() answer {
	var holders, offers, unknown []*entrant
	current := false
	for _, c := range f.left {
		switch {
		case !c.known():
			unknown = append(unknown, c)
		case c.pkg != nil:
			holders = append(holders, c)
			if c.eval.best >= 0 {
				offers = append(offers, c)
				current = current || c.eval.flags[c.eval.best]&deprecated == 0
			}
		}
	}
	if len(unknown) > 0 {
		return undecided(unknown)
	}
	if current {
		offers = slices.DeleteFunc(offers, func(c *entrant) bool { return c.eval.flags[c.eval.best]&deprecated != 0 })
	}
	switch {
	case len(offers) == 0 && len(holders) == 0:
		return answer{outcome: OutcomeFailed, reason: PackageNotFound}
	case len(offers) == 0 && len(holders) == 1:
		return within(holders[0])
	case len(offers) == 0:
		return answer{outcome: OutcomeFailed, reason: NoMatchingBundle, tied: holders}
	}
	top := 1
	for top < len(offers) && offers[top].Priority == offers[0].Priority {
		top++
	}
	if top > 1 {
		return answer{outcome: OutcomeFailed, reason: AmbiguousCatalogs, tied: offers[:top]}
	}
	return within(offers[0])
}
