package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"
	"unicode/utf8"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/resolver/casetest"
)

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// reader is a client.Reader over a list.
type reader struct {
	items []ocv1.ClusterCatalog
	err   error
	lists atomic.Int32
	// hang until the context ends.
	hang bool
}

func (r *reader) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	panic("nothing is read one by one")
}

func (r *reader) List(ctx context.Context, list client.ObjectList, _ ...client.ListOption) error {
	r.lists.Add(1)
	if r.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	list.(*ocv1.ClusterCatalogList).Items = r.items
	return r.err
}

// world is what a handler under test sees. The fresh list is the cached one unless set.
type world struct {
	cached, fresh *reader
	content       map[string]catalog.Content
	options       Options
}

// worldOf is a world in which the catalogs of a case are loaded.
func worldOf(t testing.TB, c casetest.Case) *world {
	t.Helper()
	w := &world{cached: &reader{}, content: map[string]catalog.Content{}}
	for _, name := range c.Names() {
		content, err := c.Content(name)
		if err != nil {
			t.Fatal(err)
		}
		w.content[name] = content
		w.cached.items = append(w.cached.items, *c.ClusterCatalog(name))
	}
	w.fresh = &reader{items: w.cached.items}
	w.options = Options{Rule: c.Rule, BreakGlass: BreakGlass{Group: DefaultBreakGlassGroup, Annotation: true}}
	return w
}

// loadCase is one of the resolver's cases.
func loadCase(t testing.TB, file string) casetest.Case {
	t.Helper()
	cases, err := casetest.Load("../resolver/testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.File == file {
			return c
		}
	}
	t.Fatalf("no case %s", file)
	return casetest.Case{}
}

func (w *world) handler(t testing.TB) *Handler {
	t.Helper()
	o := w.options
	o.Cached, o.Fresh = w.cached, w.fresh
	if o.Content == nil {
		o.Content = func(cc *ocv1.ClusterCatalog) catalog.Content { return w.content[cc.Name] }
	}
	if o.Log == nil {
		o.Log = silent
	}
	h, err := NewHandler(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// request is an admission request about ext, an update when old is given.
func request(t testing.TB, ext, old *ocv1.ClusterExtension) *admissionv1.AdmissionRequest {
	t.Helper()
	req := &admissionv1.AdmissionRequest{
		UID:       "705ab4f5-6393-11e8-b7cc-42010a800002",
		Kind:      metav1.GroupVersionKind{Group: extensionGroup, Version: "v1", Kind: extensionKind},
		Resource:  metav1.GroupVersionResource{Group: extensionGroup, Version: "v1", Resource: "clusterextensions"},
		Name:      ext.Name,
		Operation: admissionv1.Create,
		Object:    raw(t, ext),
	}
	req.UserInfo.Username, req.UserInfo.Groups = "alice", []string{"system:authenticated"}
	if old != nil {
		req.Operation, req.OldObject = admissionv1.Update, raw(t, old)
	}
	return req
}

// raw is an object as the API server sends it: ocv1 writes a spec even where there is none.
func raw(t testing.TB, ext *ocv1.ClusterExtension) runtime.RawExtension {
	t.Helper()
	body, err := json.Marshal(ext)
	if err != nil {
		t.Fatal(err)
	}
	if ext.Spec.Namespace == "" {
		var fields map[string]any
		if err := json.Unmarshal(body, &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, "spec")
		if body, err = json.Marshal(fields); err != nil {
			t.Fatal(err)
		}
	}
	return runtime.RawExtension{Raw: body}
}

// send is what the API server does: POST of a review, and back.
func send(t testing.TB, h *Handler, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: req,
	})
	if err != nil {
		t.Fatal(err)
	}
	status, answer := post(h, "/validate-clusterextension?timeout=5s", body)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, answer)
	}
	review := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(answer, review); err != nil {
		t.Fatal(err)
	}
	checkResponse(t, review.Response)
	if review.Response.UID != req.UID || review.Kind != "AdmissionReview" || review.APIVersion != "admission.k8s.io/v1" {
		t.Errorf("the review is not the request's: %s", answer)
	}
	return review.Response
}

func post(h *Handler, target string, body []byte) (int, []byte) {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, target, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	(&Endpoint{Handler: h, Metrics: h.Metrics, Log: silent}).ServeHTTP(w, r)
	return w.Code, w.Body.Bytes()
}

// review sends a new extension through a handler of the world.
func (w *world) review(t testing.TB, ext *ocv1.ClusterExtension) *admissionv1.AdmissionResponse {
	t.Helper()
	return send(t, w.handler(t), request(t, ext, nil))
}

// checkResponse is what holds for every answer.
func checkResponse(t testing.TB, r *admissionv1.AdmissionResponse) {
	t.Helper()
	total := 0
	for _, w := range r.Warnings {
		total += utf8.RuneCountInString(w)
		if utf8.RuneCountInString(w) > maxWarningLength || !strings.HasPrefix(w, "olmgate: ") {
			t.Errorf("warning of %d characters: %s", utf8.RuneCountInString(w), w)
		}
		if !utf8.ValidString(w) || strings.ContainsFunc(w, unicode.IsControl) {
			t.Errorf("the API server would drop %q", w)
		}
	}
	if len(r.Warnings) > maxWarnings+1 || total > 2000 {
		t.Errorf("%d warnings of %d characters", len(r.Warnings), total)
	}
	for key := range r.AuditAnnotations {
		if strings.Contains(key, "/") {
			t.Errorf("audit annotation %s", key)
		}
	}
	if r.Allowed {
		return
	}
	if r.Result.Code != http.StatusForbidden || r.Result.Reason == "" || r.Result.Message == "" || len(r.Result.Details.Causes) == 0 {
		t.Errorf("denied by %+v", r.Result)
	}
	texts := []string{r.Result.Message}
	for _, c := range r.Result.Details.Causes {
		texts = append(texts, c.Message)
	}
	for _, text := range append(texts, r.Warnings...) {
		if recreates.MatchString(text) {
			t.Errorf("Flux would re-create the object for %q", text)
		}
	}
}

func hasWarning(r *admissionv1.AdmissionResponse, part string) bool {
	for _, w := range r.Warnings {
		if strings.Contains(w, part) {
			return true
		}
	}
	return false
}
