package check

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/olmgate/olmgate/check/report"
)

// What a baseline says of itself.
const (
	baselineVersion = "olmgate.dev/v1alpha1"
	baselineKind    = "CheckBaseline"
	dateForm        = "2006-01-02"
)

// Baseline are findings that are accepted.
type Baseline struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Findings   []Accepted `json:"findings"`
}

// Accepted is one finding that is accepted: lines may move and words may change.
type Accepted struct {
	Rule string `json:"rule"`
	File string `json:"file"`
	// Object is the kind and name, as in ClusterExtension/argocd.
	Object string `json:"object,omitempty"`
	Field  string `json:"field,omitempty"`
	// Why it is accepted.
	Why string `json:"why"`
	// Expires is the first day on which it counts again, as 2006-01-02; "" for never.
	Expires string `json:"expires,omitempty"`
}

// ReadBaseline reads a file of accepted findings.
func ReadBaseline(file string) (*Baseline, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxInput))
	if err != nil {
		return nil, fmt.Errorf("reading the baseline %s: %w", file, err)
	}
	var b Baseline
	if err := yaml.UnmarshalStrict(text, &b); err != nil {
		return nil, fmt.Errorf("reading the baseline %s: %s", file, strings.TrimPrefix(oneLine(err.Error()), "error unmarshaling JSON: while decoding JSON: json: "))
	}
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("reading the baseline %s: %w", file, err)
	}
	return &b, nil
}

func (b *Baseline) check() error {
	if b.APIVersion != baselineVersion || b.Kind != baselineKind {
		return fmt.Errorf("it must have apiVersion: %s and kind: %s", baselineVersion, baselineKind)
	}
	for i, a := range b.Findings {
		switch {
		case a.Rule == "" || a.File == "":
			return fmt.Errorf("findings[%d]: rule and file must be there", i)
		case strings.TrimSpace(a.Why) == "":
			return fmt.Errorf("findings[%d] (%s in %s): why must say why it is accepted", i, a.Rule, a.File)
		case a.Expires != "":
			if _, err := time.Parse(dateForm, a.Expires); err != nil {
				return fmt.Errorf("findings[%d].expires: %q is no date such as 2026-12-31", i, a.Expires)
			}
		}
	}
	return nil
}

// key is what a finding and its acceptance have in common.
func (a Accepted) key() string {
	return strings.Join([]string{a.Rule, a.File, a.Object, a.Field}, "\x00")
}

func acceptedOf(f *report.Finding) Accepted {
	a := Accepted{Rule: f.Rule, File: f.File, Field: f.Field}
	if f.Kind != "" {
		a.Object = f.Kind + "/" + f.Name
	}
	return a
}

// acceptable reports whether a finding can be accepted at all: what cannot be read is not known.
func acceptable(f *report.Finding) bool { return f.Rule != report.UnreadableInput }

// apply takes the accepted findings out of those that count. An entry that has expired is told, as is one that nothing
// needs any more.
func (b *Baseline) apply(r *report.Report, today time.Time) {
	entries := map[string]*Accepted{}
	used := map[string]bool{}
	for i := range b.Findings {
		entries[b.Findings[i].key()] = &b.Findings[i]
	}
	var left []report.Finding
	for _, f := range r.Findings {
		key := acceptedOf(&f).key()
		a, there := entries[key]
		if !there || !acceptable(&f) {
			left = append(left, f)
			continue
		}
		if a.expired(today) {
			if !used[key] {
				r.Notices = append(r.Notices, fmt.Sprintf("the baseline accepted %s in %s until %s: it counts again", a.Rule, a.File, a.Expires))
			}
			used[key] = true
			left = append(left, f)
			continue
		}
		used[key] = true
		f.Accepted = &report.Acceptance{Why: a.Why, Expires: a.Expires}
		r.Accepted = append(r.Accepted, f)
	}
	r.Findings = left
	for i := range b.Findings {
		if a := &b.Findings[i]; !used[a.key()] {
			r.Notices = append(r.Notices, fmt.Sprintf("the baseline accepts %s in %s, which is not found any more: remove the entry", a.Rule, a.File))
		}
	}
}

func (a *Accepted) expired(today time.Time) bool {
	if a.Expires == "" {
		return false
	}
	return today.Format(dateForm) >= a.Expires
}

// NewBaseline accepts all findings of a report. What an earlier baseline says of a finding stays; the others get why and
// expires.
func NewBaseline(r *report.Report, earlier *Baseline, why, expires string) (*Baseline, error) {
	b := &Baseline{APIVersion: baselineVersion, Kind: baselineKind, Findings: []Accepted{}}
	had := map[string]Accepted{}
	if earlier != nil {
		for _, a := range earlier.Findings {
			had[a.key()] = a
		}
	}
	seen := map[string]bool{}
	for _, f := range slices.Concat(r.Findings, r.Accepted) {
		a := acceptedOf(&f)
		if seen[a.key()] || !acceptable(&f) {
			continue
		}
		seen[a.key()] = true
		old, there := had[a.key()]
		switch {
		case there && f.Accepted != nil:
			a.Why, a.Expires = old.Why, old.Expires
		case strings.TrimSpace(why) == "":
			return nil, errors.New("say by --why why the findings are accepted")
		default:
			a.Why, a.Expires = why, expires
		}
		b.Findings = append(b.Findings, a)
	}
	slices.SortFunc(b.Findings, func(x, y Accepted) int {
		return cmp.Or(strings.Compare(x.File, y.File), strings.Compare(x.Object, y.Object), strings.Compare(x.Rule, y.Rule), strings.Compare(x.Field, y.Field))
	})
	return b, b.check()
}

// Write writes the baseline to a file, in one step.
func (b *Baseline) Write(file string) error {
	text, err := yaml.Marshal(b)
	if err != nil {
		return err
	}
	text = append([]byte("# Findings of olmgate check that are accepted. An entry without expires holds until it is removed.\n"), text...)
	err = writeInOneStep(file, text)
	if err != nil {
		return fmt.Errorf("writing the baseline: %w", err)
	}
	return nil
}

// writeInOneStep puts a file in place of what is there. It follows no link.
func writeInOneStep(file string, text []byte) error {
	part, err := os.CreateTemp(filepath.Dir(file), ".olmgate-*")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) // there is none any more when all went well
	_, err = part.Write(text)
	if chmodErr := part.Chmod(0o644); err == nil { // it belongs into a repository
		err = chmodErr
	}
	if closeErr := part.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(part.Name(), file)
}
