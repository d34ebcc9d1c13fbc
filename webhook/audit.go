package webhook

import "github.com/olmgate/olmgate/resolver"

// Keys of the audit annotations. The API server puts the webhook's name and a slash before them.
const (
	AuditOutcome = "outcome"
	AuditReason  = "reason"
	AuditCatalog = "catalog"
	AuditBundle  = "bundle"
	AuditRule    = "rule"
	AuditMode    = "mode"
	AuditBypass  = "bypass"
)

// maxAuditLength bounds the value of an audit annotation, in characters.
const maxAuditLength = 256

// auditAnnotations describe a review that was judged, bypassed or went wrong. Empty values are left out.
func auditAnnotations(v *resolver.Verdict, outcome string, reason resolver.Reason, rule resolver.Rule, mode Mode, bypass string) map[string]string {
	values := map[string]string{
		AuditOutcome: outcome,
		AuditReason:  string(reason),
		AuditRule:    string(rule),
		AuditMode:    string(mode),
		AuditBypass:  bypass,
	}
	if v != nil {
		values[AuditCatalog] = v.Catalog
		if v.Bundle != nil {
			values[AuditBundle] = v.Bundle.Name
		}
	}
	for key, value := range values {
		if value = cut(clean(value), maxAuditLength); value == "" {
			delete(values, key)
		} else {
			values[key] = value
		}
	}
	return values
}
