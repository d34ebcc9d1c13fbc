package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Path is where Endpoint is served.
const Path = "/validate-clusterextension"

// maxReviewBytes is the size of the largest AdmissionReview that is read. The API server takes request bodies of 3 MB,
// and a review holds two objects at most.
const maxReviewBytes = 7 << 20

// Timeouts of the API server's calls: its default, and the longest it allows.
const (
	defaultTimeout = 10 * time.Second
	maxTimeout     = 30 * time.Second
)

// Endpoint answers AdmissionReviews over HTTP. It takes the place of admission.Webhook, whose answers to requests that
// it cannot decode are denials.
//
// What can be decoded goes to Handler. What cannot, but has a request.uid that can be found, is answered by a review
// that allows with a warning. Everything else is answered by an HTTP error, 400, 405, 413 or 415, and the API server does what
// failurePolicy says.
type Endpoint struct {
	Handler admission.Handler
	// Metrics that errors are counted in; nil means that they are not.
	Metrics *Metrics
	// Log takes one line per request that cannot be decoded; nil means slog.Default().
	Log *slog.Logger
}

// ServeHTTP implements http.Handler.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The deadline counts from here, so that reading a slow body is part of it.
	ctx, cancel := context.WithTimeout(r.Context(), ownShare(callTimeout(r)))
	defer cancel()
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		e.refuse(w, http.StatusMethodNotAllowed, errors.New("only POST of an AdmissionReview is served here"))
		return
	}
	if mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || mediaType != "application/json" {
		e.refuse(w, http.StatusUnsupportedMediaType, errors.New("the Content-Type must be application/json"))
		return
	}
	body, readErr := readBody(r)
	review, err := decodeReview(body)
	status := http.StatusBadRequest
	switch {
	case len(body) > maxReviewBytes:
		status, err = http.StatusRequestEntityTooLarge, errors.New("the AdmissionReview is larger than 7 MiB")
	case readErr != nil:
		err = readErr
	}
	switch {
	case err == nil:
		e.reply(w, review, e.Handler.Handle(ctx, admission.Request{AdmissionRequest: *review.Request}))
	case review != nil:
		a := failedOpen(errorReview, err)
		e.count(err)
		e.reply(w, review, a.response(&admission.Request{AdmissionRequest: *review.Request}))
	default:
		e.refuse(w, status, err)
	}
}

// readBody reads at most one byte more than a review may have. The length that is announced saves growing, and is
// believed as far as it costs little.
func readBody(r *http.Request) ([]byte, error) {
	const believed = 64 << 10
	var body bytes.Buffer
	if r.ContentLength > 0 {
		body.Grow(int(min(r.ContentLength, believed)) + bytes.MinRead)
	}
	_, err := body.ReadFrom(io.LimitReader(r.Body, maxReviewBytes+1))
	return body.Bytes(), err
}

// callTimeout is how long the API server waits, as it says in the query.
func callTimeout(r *http.Request) time.Duration {
	d, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || d <= 0 {
		return defaultTimeout
	}
	return min(d, maxTimeout)
}

func (e *Endpoint) reply(w http.ResponseWriter, review *admissionv1.AdmissionReview, response admission.Response) {
	out := admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: &response.AdmissionResponse}
	out.Response.UID = review.Request.UID
	body, err := json.Marshal(out)
	if err != nil {
		e.refuse(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(body); err != nil {
		e.log().Debug("the API server did not take the answer", "uid", review.Request.UID, "error", err)
	}
}

func (e *Endpoint) refuse(w http.ResponseWriter, status int, err error) {
	e.count(err)
	http.Error(w, "olmgate: "+clean(err.Error()), status)
}

func (e *Endpoint) count(err error) {
	if e.Metrics != nil {
		e.Metrics.errors.WithLabelValues(errorReview).Inc()
	}
	e.log().Error("an AdmissionReview could not be read", "error", err)
}

func (e *Endpoint) log() *slog.Logger {
	if e.Log == nil {
		return slog.Default()
	}
	return e.Log
}
