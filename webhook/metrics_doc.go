package webhook

import "github.com/olmgate/olmgate/internal/metric"

// MetricDoc documents a metric.
type MetricDoc = metric.Doc

var (
	docDuration = MetricDoc{
		Name: "olmgate_admission_duration_seconds", Type: "histogram",
		Help: "How long the handler took for a review, from the decoded request to the answer.",
	}
	docReviews = MetricDoc{
		Name: "olmgate_admission_reviews_total", Type: "counter", Labels: []string{"outcome", "reason", "decision"},
		Help:   "Reviews by what became of them.",
		Values: "outcome: Resolved, Failed, Undecided, NotEvaluated, Bypassed, Error. reason: Resolved, a failure reason, CatalogContentUnavailable, InternalError or empty. decision: allow, warn, deny.",
	}
	docNotes = MetricDoc{
		Name: "olmgate_admission_notes_total", Type: "counter", Labels: []string{"reason"},
		Help:   "Notes on judged objects, shown or not.",
		Values: "reason: a note reason.",
	}
	docBypasses = MetricDoc{
		Name: "olmgate_admission_bypasses_total", Type: "counter", Labels: []string{"by"},
		Help:   "Objects that were exempt from judgement, or that an annotation spared a denial.",
		Values: "by: break-glass, user, group, annotation. Requests that the matchConditions keep away are not seen and not counted.",
	}
	docErrors = MetricDoc{
		Name: "olmgate_admission_errors_total", Type: "counter", Labels: []string{"kind"},
		Help:   "Objects that were admitted, or requests that were refused with an HTTP error, because olmgate failed. Alert on any increase.",
		Values: "kind: panic, deadline, kind, decode, list, review.",
	}
	docFreshList = MetricDoc{
		Name: "olmgate_admission_fresh_list_duration_seconds", Type: "histogram", Labels: []string{"result"},
		Help:   "Lists of ClusterCatalogs from the API server before a denial; one may serve several reviews.",
		Values: "result: success, error. After an error the denial becomes a warning.",
	}
	docCatalogState = MetricDoc{
		Name: "olmgate_catalog_state", Type: "gauge", Labels: []string{"catalog", "state"},
		Help:   "1 for the state a catalog's content is in.",
		Values: "state: current, outdated, loading, failed, notServing.",
	}
	docCatalogAge = MetricDoc{
		Name: "olmgate_catalog_content_age_seconds", Type: "gauge", Labels: []string{"catalog"},
		Help: "Time since the content at hand was loaded; absent without content.",
	}
	docCatalogPackages = MetricDoc{
		Name: "olmgate_catalog_packages", Type: "gauge", Labels: []string{"catalog"},
		Help: "Packages in the content at hand; absent without content.",
	}
	docCatalogBundles = MetricDoc{
		Name: "olmgate_catalog_bundles", Type: "gauge", Labels: []string{"catalog"},
		Help: "Bundles in the content at hand; absent without content.",
	}
	docCertificateNotAfter = MetricDoc{
		Name: "olmgate_certificate_not_after_timestamp_seconds", Type: "gauge",
		Help: "When the serving certificate expires, as a Unix time; absent without one.",
	}
	docCertificateTrusted = MetricDoc{
		Name: "olmgate_certificate_trusted", Type: "gauge",
		Help: "1 when the serving certificate verifies under the caBundle of every webhook, as last seen, 0 when not; absent for certificates from files.",
	}
	docCertificateRotations = MetricDoc{
		Name: "olmgate_certificate_rotations_total", Type: "counter", Labels: []string{"authority"},
		Help:   "How often the serving certificate was replaced since the start.",
		Values: "authority: same, or other for one that another CA signed.",
	}
)

// MetricDocs are all metrics of this package, in the order of docs/metrics.md.
func MetricDocs() []MetricDoc {
	return []MetricDoc{
		docDuration, docReviews, docNotes, docBypasses, docErrors, docFreshList,
		docCatalogState, docCatalogAge, docCatalogPackages, docCatalogBundles,
		docCertificateNotAfter, docCertificateTrusted, docCertificateRotations,
	}
}
