// Package webhook answers AdmissionReviews of ClusterExtensions. It gathers the catalogs, lets the resolver decide and
// renders the verdict by policy: a denial, warnings, or nothing.
//
// Only a failed verdict denies. Whatever goes wrong in olmgate itself (a panic, an object that cannot be read, a
// deadline, a list that fails) lets the object through with a warning and a metric, which is why controller-runtime's
// own panic recovery and admission.Errored, which deny, are not used: Endpoint takes the place of admission.Webhook
// and Server that of its server.
//
//	Server    TLS, HTTP/2, draining at shutdown
//	Endpoint  bytes of an AdmissionReview to a request and back, deadline
//	Handler   who and what is judged, the fresh list before a denial
//	Policy    what a reason means: Deny, Warn or Ignore
package webhook
