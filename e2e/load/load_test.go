package load

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// status is an API server's answer.
type status struct {
	code   int
	reason string
}

// server answers creates of an extension with what is told for its name.
func server(t *testing.T, answers map[string]status) *rest.Config {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Query().Get("dryRun") != metav1.DryRunAll {
			t.Errorf("%s %s: a request that stores something", r.Method, r.URL)
		}
		var object map[string]any
		if err := json.NewDecoder(r.Body).Decode(&object); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		name, _ := object["metadata"].(map[string]any)["name"].(string)
		answer, special := answers[name]
		if !special {
			w.Header().Add("Warning", `299 - "told so"`)
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(object)
			return
		}
		w.WriteHeader(answer.code)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Code: int32(answer.code), Reason: metav1.StatusReason(answer.reason),
			Message: "told to",
		})
	}))
	t.Cleanup(s.Close)
	return &rest.Config{Host: s.URL}
}

func run(t *testing.T, answers map[string]status, cases ...Case) Result {
	t.Helper()
	l, err := Start(t.Context(), server(t, answers), Options{Cases: cases, Rate: 1000, Workers: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Pass(t.Context(), 40); err != nil {
		t.Error(err)
	}
	return l.Stop()
}

func TestRightAnswersAreCounted(t *testing.T) {
	result := run(t, map[string]status{"tied": {http.StatusForbidden, "AmbiguousCatalogs"}},
		Case{Object: Extension("fine", "p")},
		Case{Object: Extension("tied", "p"), Denied: "AmbiguousCatalogs"})
	if result.Requests < 40 || result.Failed != 0 || result.Wrong != 0 || len(result.FirstFailures) != 0 {
		t.Errorf("got %s %q", result, result.FirstFailures)
	}
}

func TestAnswersAgainstTheExpectationAreWrong(t *testing.T) {
	for name, c := range map[string]struct {
		answer status
		want   string
	}{
		"denied instead of allowed":   {status{http.StatusForbidden, "AmbiguousCatalogs"}, ""},
		"denied for another reason":   {status{http.StatusForbidden, "PackageNotFound"}, "AmbiguousCatalogs"},
		"forbidden by somebody else":  {status{http.StatusForbidden, "Forbidden"}, "AmbiguousCatalogs"},
		"allowed instead of denied":   {status{http.StatusCreated, ""}, "AmbiguousCatalogs"},
		"allowed instead of a reason": {status{http.StatusCreated, ""}, "PackageNotFound"},
	} {
		t.Run(name, func(t *testing.T) {
			answers := map[string]status{}
			if c.answer.code != http.StatusCreated {
				answers["x"] = c.answer
			}
			result := run(t, answers, Case{Object: Extension("x", "p"), Denied: c.want})
			if result.Wrong != result.Requests || result.Failed != 0 {
				t.Errorf("got %s %q", result, result.FirstFailures)
			}
			if len(result.FirstFailures) != keptFailures || !strings.HasPrefix(result.FirstFailures[0], "x: ") {
				t.Errorf("messages %q", result.FirstFailures)
			}
			// One warning of its own, and none of the other requests'.
			if c.answer.code == http.StatusCreated && !strings.Contains(result.FirstFailures[9], `["told so"]`) {
				t.Errorf("messages without the warning: %q", result.FirstFailures)
			}
		})
	}
}

func TestRequestsWithoutAnAnswerHaveFailed(t *testing.T) {
	result := run(t, map[string]status{"x": {http.StatusInternalServerError, "InternalError"}},
		Case{Object: Extension("x", "p"), Denied: "AmbiguousCatalogs"})
	if result.Failed != result.Requests || result.Wrong != 0 {
		t.Errorf("got %s %q", result, result.FirstFailures)
	}
}

func TestRefusedConnectionHasFailed(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	l, err := Start(t.Context(), &rest.Config{Host: s.URL}, Options{Cases: []Case{{Object: Extension("x", "p")}}, Rate: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Pass(t.Context(), 3); err != nil {
		t.Error(err)
	}
	if result := l.Stop(); result.Failed != result.Requests {
		t.Errorf("got %s %q", result, result.FirstFailures)
	}
}

func TestRequestUnderWayIsFinished(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if once.CompareAndSwap(false, true) {
			close(arrived)
		}
		<-release
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(Extension("x", "p").Object)
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	l, err := Start(ctx, &rest.Config{Host: s.URL}, Options{Cases: []Case{{Object: Extension("x", "p")}}, Rate: 1000, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	<-arrived
	cancel()
	close(release)
	if result := l.Stop(); result.Requests < 1 || result.Failed != 0 {
		t.Errorf("got %s %q", result, result.FirstFailures)
	}
}

func TestPassEndsWithItsContext(t *testing.T) {
	l, err := Start(t.Context(), server(t, nil), Options{Cases: []Case{{Object: Extension("x", "p")}}, Rate: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := l.Pass(ctx, 1000); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestLoadWithoutCasesIsRefused(t *testing.T) {
	if _, err := Start(t.Context(), &rest.Config{}, Options{}); err == nil {
		t.Error("it was started")
	}
}

func TestResultsAddUp(t *testing.T) {
	sum := Result{Requests: 3, Failed: 1, FirstFailures: []string{"a"}, Slowest: 2}.
		Add(Result{Requests: 4, Wrong: 2, FirstFailures: []string{"b"}, Slowest: 1})
	want := Result{Requests: 7, Failed: 1, Wrong: 2, FirstFailures: []string{"a", "b"}, Slowest: 2}
	if !reflect.DeepEqual(sum, want) {
		t.Errorf("got %+v, want %+v", sum, want)
	}
	if line := sum.String(); line != "requests=7 failed=1 wrong=2" {
		t.Errorf("printed as %q", line)
	}
}
