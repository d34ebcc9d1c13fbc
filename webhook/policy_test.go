package webhook

import (
	"strings"
	"testing"

	"github.com/olmgate/olmgate/resolver"
)

func TestTheDefaultPolicy(t *testing.T) {
	for _, r := range resolver.Failures() {
		want := Deny
		if r == resolver.NoCatalogsSelected {
			want = Warn
		}
		if got := (Policy{}).Failure(r); got != want {
			t.Errorf("%s: %s", r, got)
		}
	}
	for _, r := range resolver.Notes() {
		if got := (Policy{}).Note(r); got != Warn {
			t.Errorf("%s: %s", r, got)
		}
	}
	if got := (Policy{}).Undecided(); got != Warn {
		t.Errorf("undecided: %s", got)
	}
}

func TestAPolicyNamesWhatIsWrongWithIt(t *testing.T) {
	for name, tc := range map[string]struct {
		failures  map[string]string
		undecided string
		notes     map[string]string
		want      string
	}{
		"a failure that is none": {failures: map[string]string{"MajorJump": "Warn"}, want: `policy for "MajorJump": no failure has this reason`},
		"a note that is none":    {notes: map[string]string{"PackageNotFound": "Warn"}, want: `policy for "PackageNotFound": no note has this reason`},
		"an action that is none": {failures: map[string]string{"PackageNotFound": "warn"}, want: `policy for PackageNotFound: unknown action "warn": it is Deny or Warn or Ignore`},
		"a note that denies":     {notes: map[string]string{"MajorJump": "Deny"}, want: `policy for MajorJump: unknown action "Deny": it is Warn or Ignore`},
		"undecided that denies":  {undecided: "Deny", want: `policy for undecided: unknown action "Deny"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := NewPolicy(tc.failures, tc.undecided, tc.notes); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestWhatAVerdictComesTo(t *testing.T) {
	strict, err := NewPolicy(map[string]string{"NoCatalogsSelected": "Deny", "ChannelNotFound": "Ignore"}, "Ignore", map[string]string{"MajorJump": "Ignore"})
	if err != nil {
		t.Fatal(err)
	}
	notes := []resolver.Note{{Reason: resolver.MajorJump}, {Reason: resolver.BundleDeprecated}}
	for name, tc := range map[string]struct {
		outcome resolver.Outcome
		reason  resolver.Reason
		policy  Policy
		mode    Mode
		spare   string
		action  Action
		spared  string
		notes   int
	}{
		"resolved":                            {outcome: resolver.OutcomeResolved, reason: resolver.Resolved, action: Ignore, notes: 2},
		"resolved, a note ignored":            {outcome: resolver.OutcomeResolved, reason: resolver.Resolved, policy: strict, action: Ignore, notes: 1},
		"failed":                              {outcome: resolver.OutcomeFailed, reason: resolver.PackageNotFound, action: Deny, notes: 2},
		"failed, mode Warn":                   {outcome: resolver.OutcomeFailed, reason: resolver.PackageNotFound, mode: ModeWarn, action: Warn, spared: sparedByMode, notes: 2},
		"failed, mode Warn and an annotation": {outcome: resolver.OutcomeFailed, reason: resolver.PackageNotFound, mode: ModeWarn, spare: "x", action: Warn, spared: sparedByMode, notes: 2},
		"failed, spared":                      {outcome: resolver.OutcomeFailed, reason: resolver.PackageNotFound, spare: "x", action: Warn, spared: "x", notes: 2},
		"no catalogs":                         {outcome: resolver.OutcomeFailed, reason: resolver.NoCatalogsSelected, action: Warn, notes: 2},
		"no catalogs, spared nothing":         {outcome: resolver.OutcomeFailed, reason: resolver.NoCatalogsSelected, spare: "x", action: Warn, notes: 2},
		"no catalogs, denied by policy":       {outcome: resolver.OutcomeFailed, reason: resolver.NoCatalogsSelected, policy: strict, action: Deny, notes: 1},
		"failed, ignored by policy":           {outcome: resolver.OutcomeFailed, reason: resolver.ChannelNotFound, policy: strict, mode: ModeWarn, action: Ignore, notes: 1},
		"undecided":                           {outcome: resolver.OutcomeUndecided, reason: resolver.CatalogContentUnavailable, action: Warn, notes: 2},
		"undecided, ignored by policy":        {outcome: resolver.OutcomeUndecided, reason: resolver.CatalogContentUnavailable, policy: strict, action: Ignore, notes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := decide(&resolver.Verdict{Outcome: tc.outcome, Reason: tc.reason, Notes: notes}, tc.policy, tc.mode, tc.spare)
			if d.action != tc.action || d.spared != tc.spared || len(d.notes) != tc.notes {
				t.Errorf("%+v", d)
			}
		})
	}
}
