package webhook

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/types"
)

// reviewKind is the only review that is asked for in the ValidatingWebhookConfiguration, and so the only one answered.
const (
	reviewVersion = "admission.k8s.io/v1"
	reviewKind    = "AdmissionReview"
)

// decodeReview reads an AdmissionReview. With an error, the review is nil, or holds the request's uid when at least
// that could be found: enough to answer.
func decodeReview(body []byte) (*admissionv1.AdmissionReview, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, errors.New("the body is empty: an AdmissionReview is expected")
	}
	review := &admissionv1.AdmissionReview{}
	err := unmarshal(body, review)
	switch {
	case err != nil:
		err = fmt.Errorf("the AdmissionReview cannot be decoded: %w", err)
	case review.APIVersion != reviewVersion || review.Kind != reviewKind:
		err = fmt.Errorf("an AdmissionReview of %s is expected, not %s of %q", reviewVersion, review.Kind, review.APIVersion)
	case review.Request == nil || review.Request.UID == "":
		return nil, errors.New("the AdmissionReview has no request.uid")
	default:
		return review, nil
	}
	uid := findUID(body)
	if uid == "" {
		return nil, err
	}
	salvaged := &admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{UID: uid}}
	salvaged.APIVersion, salvaged.Kind = reviewVersion, reviewKind
	return salvaged, err
}

// findUID looks for request.uid in a body that may be broken further on. The API server writes it first.
func findUID(body []byte) types.UID {
	d := stdjson.NewDecoder(bytes.NewReader(body))
	if !enter(d, "request") || !enter(d, "uid") {
		return ""
	}
	token, err := d.Token()
	if uid, ok := token.(string); ok && err == nil {
		return types.UID(uid)
	}
	return ""
}

// enter reads up to the value of a key of the object that comes next.
func enter(d *stdjson.Decoder, key string) bool {
	if token, err := d.Token(); err != nil || token != stdjson.Delim('{') {
		return false
	}
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if token == key {
			return true
		}
		if token == stdjson.Delim('}') || skipValue(d) != nil {
			return false
		}
	}
}

// skipValue reads past one value without keeping it.
func skipValue(d *stdjson.Decoder) error {
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token {
		case stdjson.Delim('{'), stdjson.Delim('['):
			depth++
		case stdjson.Delim('}'), stdjson.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
