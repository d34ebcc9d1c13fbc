package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func TestBodiesThatCannotBeDecodedNeverDeny(t *testing.T) {
	w := worldOf(t, loadCase(t, tie))
	h := w.handler(t)
	const uid = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u-1"`
	for name, tc := range map[string]struct {
		body    string
		status  int
		warning string
	}{
		"an empty body":                        {"", 400, ""},
		"a blank body":                         {" \n", 400, ""},
		"no JSON":                              {"hello", 400, ""},
		"an empty object":                      {"{}", 400, ""},
		"null":                                 {"null", 400, ""},
		"a list":                               {"[]", 400, ""},
		"a review without a request":           {`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`, 400, ""},
		"a review without a uid":               {`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{}}`, 400, ""},
		"a uid that is a number":               {`{"request":{"uid":5}}`, 400, ""},
		"another kind without a uid":           {`{"kind":"Pod","apiVersion":"v1"}`, 400, ""},
		"8 MB of spaces":                       {strings.Repeat(" ", 8<<20), 413, ""},
		"8 MB of nesting":                      {strings.Repeat("[", 8<<20), 413, ""},
		"another kind with a uid":              {`{"kind":"Pod","apiVersion":"v1","request":{"uid":"u-1"}}`, 200, "AdmissionReview of admission.k8s.io/v1 is expected, not Pod"},
		"a version that is not asked for":      {`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v2","request":{"uid":"u-1"}}`, 200, "is expected"},
		"a request of the wrong type":          {uid + `,"operation":5}}`, 200, "cannot be decoded"},
		"a review that breaks off":             {uid + `,"object":{"spec":`, 200, "cannot be decoded"},
		"a review of 8 MB":                     {uid + `,"object":{"a":"` + strings.Repeat("a", 8<<20) + `"}}}`, 200, "larger than 7 MiB"},
		"a uid behind other things":            {`{"x":[{"uid":"no"},{}],"request":{"kind":{"uid":"no"},"uid":"u-1","operation":[]}}`, 200, "cannot be decoded"},
		"a review about nothing in particular": {uid + `,"operation":"CREATE"}}`, 200, "it is about  of group"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := post(h, Path, []byte(tc.body))
			if status != tc.status {
				t.Fatalf("status %d: %s", status, body)
			}
			if status != http.StatusOK {
				return
			}
			review := &admissionv1.AdmissionReview{}
			if err := json.Unmarshal(body, review); err != nil {
				t.Fatal(err)
			}
			checkResponse(t, review.Response)
			if !review.Response.Allowed || review.Response.UID != "u-1" || !hasWarning(review.Response, tc.warning) {
				t.Errorf("answer: %s", body)
			}
		})
	}
}

func TestOnlyAPostOfJSONIsServed(t *testing.T) {
	e := &Endpoint{Log: silent}
	for name, tc := range map[string]struct {
		method, contentType string
		status              int
	}{
		"GET":               {http.MethodGet, "application/json", 405},
		"a form":            {http.MethodPost, "application/x-www-form-urlencoded", 415},
		"no type":           {http.MethodPost, "", 415},
		"JSON with charset": {http.MethodPost, "application/json; charset=utf-8", 400},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), tc.method, Path, strings.NewReader("{}"))
			r.Header.Set("Content-Type", tc.contentType)
			w := httptest.NewRecorder()
			e.ServeHTTP(w, r)
			if w.Code != tc.status {
				t.Errorf("status %d", w.Code)
			}
		})
	}
}

func TestTheDeadlineIsFourFifthsOfTheAPIServers(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"?timeout=5s": 4 * time.Second, "?timeout=1s": 800 * time.Millisecond, "": 8 * time.Second, "?timeout=30s": 24 * time.Second,
		"?timeout=1h": 24 * time.Second, "?timeout=-1s": 8 * time.Second, "?timeout=soon": 8 * time.Second,
	} {
		t.Run(query, func(t *testing.T) {
			var left time.Duration
			e := &Endpoint{Log: silent, Handler: admission.HandlerFunc(func(ctx context.Context, _ admission.Request) admission.Response {
				at, _ := ctx.Deadline()
				left = time.Until(at)
				return admission.Allowed("")
			})}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path+query, strings.NewReader(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u"}}`))
			r.Header.Set("Content-Type", "application/json")
			e.ServeHTTP(httptest.NewRecorder(), r)
			if left > want || left < want-time.Second/2 {
				t.Errorf("%v left of %v", left, want)
			}
		})
	}
}

// FuzzAdmissionReview: whatever arrives, there is an answer, and a denial only of a review that could be decoded and
// that the resolver failed.
func FuzzAdmissionReview(f *testing.F) {
	c := loadCase(f, tie)
	w := worldOf(f, c)
	h := w.handler(f)
	for _, old := range []bool{false, true} {
		req := request(f, c.ClusterExtension(), nil)
		if old {
			req = request(f, c.ClusterExtension(), c.ClusterExtension())
		}
		body, err := json.Marshal(admissionv1.AdmissionReview{Request: req})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
		f.Add([]byte(strings.Replace(string(body), `{"request"`, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request"`, 1)))
	}
	f.Add([]byte(`{"request":{"uid":"u"`))
	f.Fuzz(func(t *testing.T, body []byte) {
		status, answer := post(h, Path+"?timeout=30s", body)
		if status >= 400 && status < 500 {
			return
		}
		review := &admissionv1.AdmissionReview{}
		if status != http.StatusOK || json.Unmarshal(answer, review) != nil || review.Response == nil || review.Response.UID == "" {
			t.Fatalf("status %d: %s", status, answer)
		}
		checkResponse(t, review.Response)
		if review.Response.Allowed {
			return
		}
		sent, err := decodeReview(body)
		if err != nil {
			t.Fatalf("denied, though %v", err)
		}
		if _, err := decodeObject(sent.Request.Object.Raw); err != nil {
			t.Fatalf("denied, though %v", err)
		}
	})
}
