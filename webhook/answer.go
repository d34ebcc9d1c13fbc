package webhook

import (
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/olmgate/olmgate/resolver"
)

// Outcomes of a review beside those of a verdict.
const (
	outcomeNotEvaluated = "NotEvaluated"
	outcomeBypassed     = "Bypassed"
	outcomeError        = "Error"
)

// InternalError is the reason of the warning that an object was let through without a judgement.
const InternalError resolver.Reason = "InternalError"

// Kinds of internal errors, as the metric labels them.
const (
	errorPanic    = "panic"
	errorDeadline = "deadline"
	errorKind     = "kind"
	errorDecode   = "decode"
	errorList     = "list"
	errorReview   = "review"
)

// answer is what became of a request.
type answer struct {
	outcome string
	// verdict and decision of a judged object, nil and zero otherwise.
	verdict  *resolver.Verdict
	decision decision
	// bypass is by what the object got past, "" when it did not.
	bypass string
	// bypassWhy is what the annotation says, "" for the other ways.
	bypassWhy string
	// errorKind and err of an internal error.
	errorKind string
	err       error
	// audit are the audit annotations, nil for what was not evaluated.
	audit map[string]string
}

func notEvaluated() answer { return answer{outcome: outcomeNotEvaluated} }

func bypassed(by string) answer { return answer{outcome: outcomeBypassed, bypass: by} }

func failedOpen(kind string, err error) answer {
	return answer{outcome: outcomeError, errorKind: kind, err: err}
}

func judged(v *resolver.Verdict, d decision) answer {
	return answer{outcome: string(v.Outcome), verdict: v, decision: d}
}

// reason is that of the verdict, InternalError, or "".
func (a answer) reason() resolver.Reason {
	switch {
	case a.verdict != nil:
		return a.verdict.Reason
	case a.err != nil:
		return InternalError
	}
	return ""
}

// Decisions, as the metric labels them.
const (
	decisionAllow = "allow"
	decisionWarn  = "warn"
	decisionDeny  = "deny"
)

func (a answer) label() string {
	switch {
	case a.decision.action == Deny:
		return decisionDeny
	case a.err != nil || a.decision.action == Warn || len(a.decision.notes) > 0:
		return decisionWarn
	}
	return decisionAllow
}

// response renders the answer.
func (a answer) response(req *admission.Request) admission.Response {
	r := admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{
		UID:              req.UID,
		Allowed:          a.decision.action != Deny,
		Result:           &metav1.Status{Code: http.StatusOK},
		AuditAnnotations: a.audit,
	}}
	switch {
	case a.err != nil:
		r.Warnings = []string{openWarning(a.errorKind, a.err)}
	case a.verdict != nil && a.decision.action == Deny:
		r.Result = denial(a.verdict, a.decision.notes)
		r.Warnings = warnings(a.verdict, a.decision)
	case a.verdict != nil:
		r.Warnings = warnings(a.verdict, a.decision)
	}
	return r
}

// openWarning tells the user that the object went through unseen. What a panic says stays in the log.
func openWarning(kind string, err error) string {
	what := err.Error()
	if kind == errorPanic {
		what = "a panic, which olmgate's log holds"
	}
	return warn(InternalError, fmt.Sprintf("admitted without a check: %s", what))
}

// bypassText is the way past a denial with its explanation, for the audit log.
func (a answer) bypassText() string {
	if a.bypassWhy == "" {
		return a.bypass
	}
	return a.bypass + ": " + a.bypassWhy
}
