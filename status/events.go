package status

import (
	"fmt"
	"slices"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxNote bounds the text of an event as the API does, in bytes.
const maxNote = 1000

// action is what olmgate did when it sent an event.
const action = "Evaluate"

// reasonOwnedByOther is the reason of the event that a plain type is left to another manager.
const reasonOwnedByOther = "ConditionOwnedByOther"

// sendEvents tells of transitions: status or reason has changed. What only words differently is no event, and what starts
// out well is none either.
func (w *Writer) sendEvents(j *job) {
	for _, c := range j.conditions {
		old := byType(j.before, c.Type)
		if old != nil && old.Status == c.Status && old.Reason == c.Reason {
			continue
		}
		if kind, worth := eventOf(&c, old); worth {
			w.recorder.Eventf(j.ext, nil, kind, c.Reason, action, "%s", cutBytes(c.Message, maxNote))
		}
	}
}

// eventOf is the type of event that a transition deserves.
func eventOf(c, old *metav1.Condition) (kind string, worth bool) {
	switch c.Type {
	case TypeResolved:
		switch c.Status {
		case metav1.ConditionFalse:
			return corev1.EventTypeWarning, true
		case metav1.ConditionUnknown:
			return corev1.EventTypeWarning, old != nil
		}
		return corev1.EventTypeNormal, old != nil
	case TypeUpdateAvailable:
		return corev1.EventTypeNormal, c.Status == metav1.ConditionTrue
	case TypeDeprecated:
		return corev1.EventTypeWarning, c.Status == metav1.ConditionTrue
	}
	return "", false
}

// tellOwners sends one event per plain type that is left to another manager after olmgate had it, or was about to.
func (w *Writer) tellOwners(ext *ocv1.ClusterExtension, st *extension, have *present) {
	w.mu.Lock()
	var lines []string
	for _, name := range plainTypes {
		owner, taken := have.names[name]
		// What a leader before this one gave up, it told itself.
		if had := byType(st.asked, name) != nil || st.owned[name] != ""; taken && had && st.told[name] != owner {
			st.told[name] = owner
			lines = append(lines, fmt.Sprintf("condition %s is left to its other owner: %s", name, owner))
		}
	}
	w.mu.Unlock()
	slices.Sort(lines)
	for _, line := range lines {
		w.recorder.Eventf(ext, nil, corev1.EventTypeWarning, reasonOwnedByOther, action, "%s", cutBytes(line, maxNote))
	}
}

// cutBytes bounds a text without cutting a character in two.
func cutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const end = "..."
	n := most - len(end)
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + end
}
