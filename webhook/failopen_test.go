package webhook

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/olmgate/olmgate/catalog"
)

// panicking is a log that fails.
type panicking struct{ slog.Handler }

func (panicking) Enabled(context.Context, slog.Level) bool { panic("secret") }

// TestNothingButAVerdictDenies uses an extension that is denied when all goes well.
func TestNothingButAVerdictDenies(t *testing.T) {
	for name, tc := range map[string]struct {
		world   func(*testing.T, *world)
		request func(*admissionv1.AdmissionRequest)
		kind    string
		warning string
	}{
		"a panic": {
			world: func(_ *testing.T, w *world) {
				w.options.Content = func(*ocv1.ClusterCatalog) catalog.Content { panic("secret") }
			},
			kind: "panic", warning: "olmgate: InternalError: admitted without a check: a panic, which olmgate's log holds",
		},
		"a panic after the judgement": {
			world: func(_ *testing.T, w *world) { w.options.Log = slog.New(panicking{silent.Handler()}) },
			kind:  "panic", warning: "admitted without a check: a panic",
		},
		"content that hangs": {
			world: func(t *testing.T, w *world) {
				w.options.Content = func(*ocv1.ClusterCatalog) catalog.Content { <-t.Context().Done(); return catalog.Content{} }
			},
			kind: "deadline", warning: "olmgate: InternalError: admitted without a check: judge the object in time",
		},
		"a cache that fails": {
			world: func(_ *testing.T, w *world) { w.cached.err = errors.New("not started") },
			kind:  "list", warning: "olmgate: InternalError: admitted without a check: list ClusterCatalogs from the cache: not started",
		},
		"an object that is no JSON": {
			request: func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte(`{"spec":`) },
			kind:    "decode", warning: "admitted without a check: read the object: it cannot be decoded",
		},
		"an object with a field of another type": {
			request: func(r *admissionv1.AdmissionRequest) {
				r.Object.Raw = []byte(`{"apiVersion":"olm.operatorframework.io/v1","kind":"ClusterExtension","spec":1}`)
			},
			kind: "decode", warning: "read the object: it cannot be decoded",
		},
		"no object": {
			request: func(r *admissionv1.AdmissionRequest) { r.Object.Raw = nil },
			kind:    "decode", warning: "read the object: it is empty",
		},
		"an old object that cannot be read": {
			request: func(r *admissionv1.AdmissionRequest) {
				r.Operation, r.OldObject.Raw = admissionv1.Update, []byte(`[]`)
			},
			kind: "decode", warning: "read the old object: it cannot be decoded",
		},
		"a request about another kind": {
			request: func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = "ClusterCatalog" },
			kind:    "kind", warning: "it is about ClusterCatalog of group \"olm.operatorframework.io\"; check the rules",
		},
		"an object of another kind": {
			request: func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte(`{"apiVersion":"v1","kind":"Pod"}`) },
			kind:    "decode", warning: "read the object: it is a Pod of \"v1\"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := loadCase(t, tie)
			w := worldOf(t, c)
			if tc.world != nil {
				tc.world(t, w)
			}
			registry := prometheus.NewRegistry()
			metrics, err := NewMetrics(registry)
			if err != nil {
				t.Fatal(err)
			}
			w.options.Metrics = metrics
			req := request(t, c.ClusterExtension(), nil)
			if tc.request != nil {
				tc.request(req)
			}
			ctx := t.Context()
			if tc.kind == "deadline" {
				ended, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
				defer cancel()
				ctx = ended
			}
			r := w.handler(t).Handle(ctx, admission.Request{AdmissionRequest: *req})
			checkResponse(t, &r.AdmissionResponse)
			if !r.Allowed || !hasWarning(&r.AdmissionResponse, tc.warning) || r.UID != req.UID {
				t.Errorf("allowed: %v, %q", r.Allowed, r.Warnings)
			}
			if hasWarning(&r.AdmissionResponse, "secret") {
				t.Errorf("a panic is told to the user: %q", r.Warnings)
			}
			if n := testutil.ToFloat64(metrics.errors.WithLabelValues(tc.kind)); n != 1 {
				t.Errorf("%v errors counted as %s", n, tc.kind)
			}
			if n := testutil.ToFloat64(metrics.reviews.WithLabelValues("Error", "InternalError", "warn")); n != 1 {
				t.Errorf("%v reviews counted", n)
			}
		})
	}
}
