package webhook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgate/olmgate/resolver"
)

// Action is what a reason leads to.
type Action string

// The actions of a policy.
const (
	// Deny refuses the object. Only failures can be denied.
	Deny Action = "Deny"
	// Warn lets the object through with a warning.
	Warn Action = "Warn"
	// Ignore lets the object through without a word.
	Ignore Action = "Ignore"
)

// Mode is the switch over all of a policy.
type Mode string

// The modes.
const (
	// ModeEnforce does what the policy says.
	ModeEnforce Mode = "Enforce"
	// ModeWarn turns every denial into a warning.
	ModeWarn Mode = "Warn"
)

// ParseMode reads the name of a mode.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case ModeEnforce, ModeWarn:
		return m, nil
	}
	return "", fmt.Errorf("unknown mode %q: it is Enforce or Warn", s)
}

// Policy says what each reason leads to. The zero value is the default policy.
type Policy struct {
	failures  map[resolver.Reason]Action
	undecided Action
	notes     map[resolver.Reason]Action
}

// NewPolicy reads a policy from names, as configuration has them. What is not named keeps its default: failures are
// denied, except NoCatalogsSelected; an undecided verdict and notes are warnings. undecided may be "".
func NewPolicy(failures map[string]string, undecided string, notes map[string]string) (Policy, error) {
	p := Policy{failures: map[resolver.Reason]Action{}, notes: map[resolver.Reason]Action{}}
	for name, action := range failures {
		if !slices.Contains(resolver.Failures(), resolver.Reason(name)) {
			return Policy{}, fmt.Errorf("policy for %q: no failure has this reason; the reasons are %s", name, joinReasons(resolver.Failures()))
		}
		a, err := parseAction(action, Deny, Warn, Ignore)
		if err != nil {
			return Policy{}, fmt.Errorf("policy for %s: %w", name, err)
		}
		p.failures[resolver.Reason(name)] = a
	}
	if undecided != "" {
		a, err := parseAction(undecided, Warn, Ignore)
		if err != nil {
			return Policy{}, fmt.Errorf("policy for undecided: %w", err)
		}
		p.undecided = a
	}
	for name, action := range notes {
		if !slices.Contains(resolver.Notes(), resolver.Reason(name)) {
			return Policy{}, fmt.Errorf("policy for %q: no note has this reason; the reasons are %s", name, joinReasons(resolver.Notes()))
		}
		a, err := parseAction(action, Warn, Ignore)
		if err != nil {
			return Policy{}, fmt.Errorf("policy for %s: %w", name, err)
		}
		p.notes[resolver.Reason(name)] = a
	}
	return p, nil
}

// Failure is the action for a failed verdict of this reason. An absent catalog is no evidence, and GitOps tools dry-run
// catalogs and extensions together before they apply either, so NoCatalogsSelected warns by default.
func (p Policy) Failure(r resolver.Reason) Action {
	if a, ok := p.failures[r]; ok {
		return a
	}
	if r == resolver.NoCatalogsSelected {
		return Warn
	}
	return Deny
}

// Undecided is the action for an undecided verdict.
func (p Policy) Undecided() Action {
	if p.undecided == "" {
		return Warn
	}
	return p.undecided
}

// Note is the action for a note of this reason.
func (p Policy) Note(r resolver.Reason) Action {
	if a, ok := p.notes[r]; ok {
		return a
	}
	return Warn
}

func parseAction(s string, allowed ...Action) (Action, error) {
	if slices.Contains(allowed, Action(s)) {
		return Action(s), nil
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	return "", fmt.Errorf("unknown action %q: it is %s", s, strings.Join(names, " or "))
}

func joinReasons(reasons []resolver.Reason) string {
	names := make([]string, len(reasons))
	for i, r := range reasons {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}
