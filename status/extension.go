package status

import (
	"slices"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/olmgate/olmgate/resolver"
)

// extension is what is known of one ClusterExtension. Guarded by Writer.mu.
type extension struct {
	uid types.UID
	pkg string
	// selector selects catalogs; readable is false when it cannot be read.
	selector resolver.Selector
	readable bool
	// last is the last verdict, nil when there is none to give. While evaluating, it is not known yet what the next depends on.
	last       *summary
	evaluating bool
	// written are the conditions and managed the managed fields as the last write left them, until the cache has them too;
	// version is the resource version that it gave, "" before.
	written []metav1.Condition
	managed []metav1.ManagedFieldsEntry
	version string
	// asked is what that write asked for, wrote when it ended.
	asked []metav1.Condition
	wrote time.Time
	// owned are types that another manager turned out to have when they were written, with words about it, until the cache
	// knows of it.
	owned map[string]string
	// told are the owners that an event was sent about.
	told map[string]string
	// failures counts failed writes in a row, undone how often others undid one.
	failures, undone int
	// notBefore is when the next write may be, undoneAt when the last was undone.
	notBefore, undoneAt time.Time
	// held is since when an evaluation waits for something to pass.
	held time.Time
}

// summary is what is kept of a verdict.
type summary struct {
	outcome   resolver.Outcome
	reason    resolver.Reason
	available resolver.Availability
	update    resolver.Reason
	hops      *int
	at        time.Time
}

// track finds what is known of an extension, anew when it is another of the same name.
func (w *Writer) track(ext *ocv1.ClusterExtension) *extension {
	selector, err := resolver.NewSelector(ext.Spec.Source.Catalog)
	w.mu.Lock()
	defer w.mu.Unlock()
	st := w.known[ext.Name]
	if st == nil || st.uid != ext.UID {
		st = &extension{uid: ext.UID, owned: map[string]string{}, told: map[string]string{}}
		w.known[ext.Name] = st
	}
	st.selector, st.readable, st.pkg, st.evaluating = selector, err == nil, "", true
	if src := ext.Spec.Source.Catalog; src != nil {
		st.pkg = src.PackageName
	}
	return st
}

func (w *Writer) remember(st *extension, v *resolver.Verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	st.last, st.held, st.evaluating = nil, time.Time{}, false
	if v != nil {
		st.last = &summary{v.Outcome, v.Reason, v.Update.Available, v.Update.Reason, v.Update.Hops, time.Now()}
	}
}

// present is how an extension's conditions stand.
type present struct {
	conditions []metav1.Condition
	// before are those that a transition starts from: the last write's, then those that are there.
	before []metav1.Condition
	owners
	// undone is whether somebody changed what was written last.
	undone bool
}

// current are the conditions of an extension: as the cache has them, or as the last write left them, when the cache does
// not know of it yet.
func (w *Writer) current(st *extension, ext *ocv1.ClusterExtension) present {
	w.mu.Lock()
	defer w.mu.Unlock()
	conditions, managed, stale := ext.Status.Conditions, ext.ManagedFields, false
	if st.version != "" {
		order, err := resourceversion.CompareResourceVersion(ext.ResourceVersion, st.version)
		if stale = err == nil && order < 0; stale {
			conditions, managed = st.written, st.managed
		} else {
			st.written, st.managed = nil, nil
		}
	}
	p := present{conditions: conditions, before: conditions, owners: conditionOwners(managed)}
	if p.undone = !stale && !sameAll(st.asked, conditions); p.undone {
		// What somebody took away comes back as it was: that is no transition.
		p.before = append(slices.Clone(st.asked), conditions...)
	}
	for name, owner := range st.owned {
		if p.others[name] == nil {
			p.others[name] = fields{}
		}
		p.names[name] = owner
	}
	return p
}

// desired are the conditions that an extension should have.
type desired struct {
	conditions []metav1.Condition
	// left are conditions that other managers have, with the fields of theirs that only olmgate has.
	left []partial
}

// partial is a condition of which only some fields are applied.
type partial struct {
	condition metav1.Condition
	fields    []string
}

// desired are the conditions that follow from a verdict: of the plain types those that nobody else has.
func (w *Writer) desired(v *resolver.Verdict, have *present, generation int64) desired {
	d := desired{conditions: Conditions(v, generation)}
	if w.Profile != ProfileFull {
		return d
	}
	for _, c := range plainConditions(v, generation) {
		if have.others[c.Type] == nil {
			d.conditions = append(d.conditions, c)
		}
	}
	return d
}

// leave finds what olmgate has of conditions that are not desired and that other managers have.
func (d *desired) leave(have *present) {
	for name := range have.applied {
		live := byType(have.conditions, name)
		if live == nil || have.others[name] == nil || byType(d.conditions, name) != nil {
			continue
		}
		if fs, _ := have.remains(name); len(fs) > 0 {
			d.left = append(d.left, partial{*live, fs})
		}
	}
}

// fulfilled reports whether nothing has to be written.
func (d *desired) fulfilled(have *present) bool {
	if !sameAll(d.conditions, have.conditions) {
		return false
	}
	for name := range have.applied {
		if byType(d.conditions, name) != nil {
			continue
		}
		// What others have too stays, and shared fields are given up. What nobody else has goes.
		if _, shared := have.remains(name); shared || have.others[name] == nil {
			return false
		}
	}
	return true
}

// sameAll reports whether all these conditions are among others.
func sameAll(these, among []metav1.Condition) bool {
	for i := range these {
		if !same(byType(among, these[i].Type), &these[i]) {
			return false
		}
	}
	return true
}

// same compares all but the time.
func same(a, b *metav1.Condition) bool {
	return a != nil && b != nil && a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message &&
		a.ObservedGeneration == b.ObservedGeneration
}

// setTimes keeps the times of conditions whose status stays.
func (d *desired) setTimes(before []metav1.Condition) {
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	for i := range d.conditions {
		c := &d.conditions[i]
		c.LastTransitionTime = now
		if old := byType(before, c.Type); old != nil && old.Status == c.Status && !old.LastTransitionTime.IsZero() {
			c.LastTransitionTime = old.LastTransitionTime
		}
	}
}

// turnsBad reports whether an extension ceases to resolve, or is first seen not to.
func turnsBad(before, now []metav1.Condition) bool {
	c, old := byType(now, TypeResolved), byType(before, TypeResolved)
	return c != nil && c.Status == metav1.ConditionFalse && (old == nil || old.Status != metav1.ConditionFalse)
}

// How long a write waits that others undo again and again, and one that failed.
const (
	backoffFirst = time.Second
	undoneMax    = 5 * time.Minute
	failedMax    = time.Minute
	// undoneForgotten is after how long without it the count starts again.
	undoneForgotten = 10 * time.Minute
)

func backoff(n int, most time.Duration) time.Duration {
	return min(most, backoffFirst<<min(max(n-1, 0), 20))
}

// due is when a write may happen at the earliest. A controller that takes away conditions it does not know would otherwise
// go round in circles with olmgate.
func (w *Writer) due(st *extension, want *desired, have *present) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	again := have.undone && len(st.asked) == len(want.conditions) && sameAll(want.conditions, st.asked)
	// Once for each write, however often it is looked at.
	if again && st.wrote.After(st.undoneAt) {
		if now.Sub(st.undoneAt) > undoneForgotten {
			st.undone = 0
		}
		st.undone++
		st.undoneAt = now
		if st.undone > 1 { // once may be an accident
			st.notBefore = now.Add(backoff(st.undone-1, undoneMax))
		}
	}
	return st.notBefore
}

// holdBack is how long an evaluation should wait for what passes by itself; 0 when it counts.
func (w *Writer) holdBack(st *extension, v *resolver.Verdict, loading bool, have *present, generation int64) time.Duration {
	passing := loading && v.Outcome == resolver.OutcomeUndecided
	// operator-controller unsets what is installed while it cannot find out. What was written for this generation stays.
	if v.Update.Reason == resolver.InstalledStateUnknown {
		old := byType(have.conditions, TypeUpdateAvailable)
		passing = passing || old != nil && old.ObservedGeneration == generation && old.Reason != string(resolver.InstalledStateUnknown)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !passing {
		return 0
	}
	if st.held.IsZero() {
		st.held = time.Now()
	}
	return time.Until(st.held.Add(w.Grace))
}
