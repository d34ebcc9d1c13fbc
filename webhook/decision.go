package webhook

import (
	"slices"

	"github.com/olmgate/olmgate/resolver"
)

// decision is what a verdict comes to under a policy.
type decision struct {
	// action for the verdict itself; Ignore when it resolved.
	action Action
	// spared says why a verdict that the policy denies is only a warning, "" when nothing was spared.
	spared string
	// notes that are shown, the most severe first.
	notes []resolver.Note
}

// Reasons for sparing an object, as phrases that follow "not denied because".
const (
	sparedByMode      = "olmgate runs in mode Warn"
	sparedByFreshList = "the current ClusterCatalogs could not be listed to confirm it"
)

// decide applies the policy to a verdict. spare, when not "", says why this object must not be denied.
func decide(v *resolver.Verdict, p Policy, mode Mode, spare string) decision {
	d := decision{action: Ignore, notes: shownNotes(v.Notes, p)}
	switch v.Outcome {
	case resolver.OutcomeFailed:
		d.action = p.Failure(v.Reason)
	case resolver.OutcomeUndecided:
		d.action = p.Undecided()
	}
	if d.action != Deny {
		return d
	}
	if mode == ModeWarn {
		spare = sparedByMode
	}
	if spare != "" {
		d.action, d.spared = Warn, spare
	}
	return d
}

// shownNotes are the notes that the policy does not ignore, SelectionDiffers first, then by severity.
func shownNotes(notes []resolver.Note, p Policy) []resolver.Note {
	shown := make([]resolver.Note, 0, len(notes))
	for _, n := range notes {
		if p.Note(n.Reason) != Ignore {
			shown = append(shown, n)
		}
	}
	slices.SortStableFunc(shown, func(a, b resolver.Note) int { return severity[a.Reason] - severity[b.Reason] })
	return shown
}

// severity ranks the reasons of notes, 0 being the most severe.
var severity = func() map[resolver.Reason]int {
	rank := map[resolver.Reason]int{}
	for i, r := range resolver.Notes() {
		rank[r] = i
	}
	return rank
}()
