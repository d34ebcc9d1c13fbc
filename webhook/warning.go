package webhook

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/olmgate/olmgate/resolver"
)

// Bounds of warnings. The API server cuts all warnings to 256 characters each when together they exceed 4,096, and
// other webhooks warn too.
const (
	maxWarningLength = 240
	maxWarnings      = 5
	// maxFailurePieces is over how many warnings the message of a failure may extend, which is never cut short while
	// there is room.
	maxFailurePieces = 3
)

// continued begins a warning that goes on with the text of the one before.
const continued = ellipsis + " "

// warn is one warning of olmgate's form: prefix, reason and text, cleaned and cut.
func warn(reason resolver.Reason, text string) string {
	return cut(fmt.Sprintf("olmgate: %s: %s", reason, clean(text)), maxWarningLength)
}

// warnings renders a decision: first the verdict when it is a warning, with what would help, then the notes.
func warnings(v *resolver.Verdict, d decision) []string {
	var notes []string
	for _, n := range d.notes {
		text := n.Message
		if text == "" {
			text = n.Field
		}
		notes = append(notes, warn(n.Reason, text))
	}
	out := notes
	if d.action == Warn {
		failure, fixes := failureWarnings(v, d)
		// What operator-controller would do instead must not be lost behind the ways out.
		first := 0
		if len(d.notes) > 0 && d.notes[0].Reason == resolver.SelectionDiffers {
			first = 1
		}
		out = slices.Concat(failure, notes[:first], fixes, notes[first:])
	}
	if v.Outcome == resolver.OutcomeResolved && len(d.notes) > 0 {
		for _, s := range v.Suggestions {
			out = append(out, warn(noteOf(s, d.notes), suggestionText(s)))
		}
	}
	return bounded(out, v.Extension)
}

// failureWarnings are the warnings of a failed or undecided verdict that is let through: what failed, and what would
// help.
func failureWarnings(v *resolver.Verdict, d decision) (failure, fixes []string) {
	text := clean(v.Message)
	if d.spared != "" {
		text = "not denied because " + clean(d.spared) + ": " + text
	}
	prefix := fmt.Sprintf("olmgate: %s: ", v.Reason)
	room := maxWarningLength - utf8.RuneCountInString(prefix) - utf8.RuneCountInString(continued)
	for i, piece := range split(text, room, maxFailurePieces) {
		if i > 0 {
			piece = continued + piece
		}
		failure = append(failure, prefix+piece)
	}
	for _, s := range v.Suggestions {
		fixes = append(fixes, warn(v.Reason, suggestionText(s)))
	}
	return failure, fixes
}

// noteOf is the reason of the note that a suggestion belongs to: the most severe one about the same field.
func noteOf(s resolver.Suggestion, notes []resolver.Note) resolver.Reason {
	for _, n := range notes {
		if n.Field == s.Field {
			return n.Reason
		}
	}
	return notes[0].Reason
}

// bounded keeps the first few warnings and says where the rest can be read.
func bounded(all []string, extension string) []string {
	if len(all) <= maxWarnings {
		return all
	}
	rest := fmt.Sprintf("olmgate: and %d more: olmgate resolve", len(all)-maxWarnings)
	if extension != "" {
		rest += " " + clean(extension)
	}
	return append(all[:maxWarnings:maxWarnings], cut(rest, maxWarningLength))
}
