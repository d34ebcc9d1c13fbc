package webhook

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmgate/olmgate/resolver"
)

// Bounds of a denial, in characters and causes.
const (
	maxDenialLength = 4000
	maxCauseLength  = 1000
	maxCauses       = 30
)

// CauseSuggestion is the type of the causes in status.details that hold a change which would help; the field is the one
// to set, the message says to what. All other causes have a reason of the verdict as their type.
const CauseSuggestion metav1.CauseType = "Suggestion"

// denial is the status of a refusal. It is a 403, never a 422 or 409: kubectl apply --force and Flux's force answer
// those by deleting and re-creating the object, which uninstalls the operator.
func denial(v *resolver.Verdict, notes []resolver.Note) *metav1.Status {
	return &metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusForbidden,
		Reason:  metav1.StatusReason(v.Reason),
		Message: denialMessage(v),
		Details: &metav1.StatusDetails{
			Name:   v.Extension,
			Group:  extensionGroup,
			Kind:   extensionKind,
			Causes: causes(v, notes),
		},
	}
}

// denialMessage is everything a person needs: what was found, then one line for each change that would help.
func denialMessage(v *resolver.Verdict) string {
	message := cut(clean(v.Message), maxDenialLength/2)
	if message == "" {
		message = string(v.Reason)
	}
	var b strings.Builder
	b.WriteString(message)
	length := utf8.RuneCountInString(message)
	for i, s := range v.Suggestions {
		line := "\n  " + suggestionText(s)
		n := utf8.RuneCountInString(line)
		if length+n > maxDenialLength-100 {
			fmt.Fprintf(&b, "\n  and %d more changes would help: olmgate resolve -f FILE", len(v.Suggestions)-i)
			break
		}
		b.WriteString(line)
		length += n
	}
	return soften(b.String())
}

// causes repeat the denial for machines: the verdict itself, what would help, and the notes.
func causes(v *resolver.Verdict, notes []resolver.Note) []metav1.StatusCause {
	out := []metav1.StatusCause{{
		Type: metav1.CauseType(v.Reason), Field: v.Field, Message: cut(clean(v.Message), maxCauseLength),
	}}
	for _, s := range v.Suggestions {
		out = append(out, metav1.StatusCause{
			Type: CauseSuggestion, Field: clean(s.Field), Message: cut(suggestionText(s), maxCauseLength),
		})
	}
	for _, n := range notes {
		out = append(out, metav1.StatusCause{
			Type: metav1.CauseType(n.Reason), Field: clean(n.Field), Message: cut(clean(n.Message), maxCauseLength),
		})
	}
	return out[:min(len(out), maxCauses)]
}
