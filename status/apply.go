package status

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writeTimeout bounds one request.
const writeTimeout = 10 * time.Second

// write applies what a job asks for. What fails is queued again, later each time.
func (w *Writer) write(ctx context.Context, name string, j *job) {
	if w.writtenMeanwhile(name, j) {
		return
	}
	left, err := w.applyFree(ctx, j)
	switch {
	case err == nil:
		w.Metrics.wrote(resultSuccess)
		w.written(name, j, left)
		w.sendEvents(j)
		w.Log.Debug("the conditions were written", "extension", name, "resolved", reasonOf(j.conditions, TypeResolved))
	case apierrors.IsNotFound(err) || ctx.Err() != nil:
		w.Metrics.wrote(resultGone)
	default:
		w.Metrics.wrote(resultError)
		wait := w.failed(name, j)
		w.Log.Warn("writing conditions failed", "extension", name, "retryIn", wait.String(), "error", err)
	}
}

// writtenMeanwhile reports whether a job was made while another that asked for the same was under way.
func (w *Writer) writtenMeanwhile(name string, j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := w.known[name]
	return st != nil && st.uid == j.ext.UID && j.made.Before(st.wrote) && len(j.conditions) == len(st.asked) && sameAll(j.conditions, st.asked)
}

// errTaken is that another manager has a plain type that was about to be written.
var errTaken = errors.New("another manager has it")

// applyFree applies a job's conditions. In ProfileFull a type that another manager turns out to have is left to it the next
// time; that somebody changed olmgate's own types does not matter.
func (w *Writer) applyFree(ctx context.Context, j *job) (*ocv1.ClusterExtension, error) {
	if w.Profile == ProfileOwn && len(j.left) == 0 {
		return w.apply(ctx, j, client.ForceOwnership)
	}
	left, err := w.apply(ctx, j)
	taken, conflict := conflicts(err)
	switch {
	case !conflict:
		return left, err
	case len(taken) == 0:
		return w.apply(ctx, j, client.ForceOwnership)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if st := w.known[j.ext.Name]; st != nil && st.uid == j.ext.UID {
		maps.Copy(st.owned, taken)
	}
	return nil, fmt.Errorf("%w: %w", errTaken, err)
}

// apply sends one server-side apply. Another extension of the same name is not touched.
func (w *Writer) apply(ctx context.Context, j *job, options ...client.SubResourceApplyOption) (*ocv1.ClusterExtension, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	conditions, err := j.encode()
	if err != nil {
		return nil, err
	}
	patch := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": ocv1.GroupVersion.String(),
		"kind":       ocv1.ClusterExtensionKind,
		"metadata":   map[string]any{"name": j.ext.Name, "uid": string(j.ext.UID)},
	}}
	if len(conditions) > 0 { // an empty status would be refused where nobody else has one
		patch.Object["status"] = map[string]any{"conditions": conditions}
	}
	options = append(options, client.FieldOwner(FieldManager))
	if err := w.status.Apply(ctx, client.ApplyConfigurationFromUnstructured(patch), options...); err != nil {
		return nil, fmt.Errorf("applying conditions to ClusterExtension %q: %w", j.ext.Name, err)
	}
	left := &ocv1.ClusterExtension{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(patch.Object, left); err != nil {
		return nil, fmt.Errorf("reading ClusterExtension %q as the API server returned it: %w", j.ext.Name, err)
	}
	return left, nil
}

// encode writes the conditions as they are applied.
func (d *desired) encode() ([]any, error) {
	var list []any
	for i := range d.conditions {
		c, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&d.conditions[i])
		if err != nil {
			return nil, fmt.Errorf("encoding a condition: %w", err)
		}
		list = append(list, c)
	}
	for i := range d.left {
		all, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&d.left[i].condition)
		if err != nil {
			return nil, fmt.Errorf("encoding a condition: %w", err)
		}
		some := map[string]any{"type": d.left[i].condition.Type}
		for _, f := range d.left[i].fields {
			if v, ok := all[f]; ok {
				some[f] = v
			}
		}
		list = append(list, some)
	}
	return list, nil
}

// conflicts are the types, of those that another manager may have, that a refused apply names, with the text about
// their owner.
func conflicts(err error) (map[string]string, bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsConflict(err) || status.Status().Details == nil {
		return nil, false
	}
	taken := map[string]string{}
	found := false
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		found = true
		for _, name := range plainTypes {
			if strings.Contains(cause.Field, fmt.Sprintf("[type=%q]", name)) {
				taken[name] = strings.TrimPrefix(cause.Message, "conflict with ")
			}
		}
	}
	return taken, found
}

// written keeps what a write left, until the cache has caught up.
func (w *Writer) written(name string, j *job, left *ocv1.ClusterExtension) {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := w.known[name]
	if st == nil || st.uid != j.ext.UID {
		return
	}
	st.written, st.managed, st.version = left.Status.Conditions, slimManagedFields(left.ManagedFields), left.ResourceVersion
	st.asked, st.wrote, st.failures = j.conditions, time.Now(), 0
	clear(st.owned) // what the API server returned says it
}

// failed has an extension evaluated again, and returns after how long. The job itself is not kept: what it asks for may not
// be true any more by then.
func (w *Writer) failed(name string, j *job) time.Duration {
	w.mu.Lock()
	wait := backoffFirst
	if st := w.known[name]; st != nil && st.uid == j.ext.UID {
		st.failures++
		wait = backoff(st.failures, failedMax)
		st.notBefore = time.Now().Add(wait)
	}
	w.mu.Unlock()
	if q := w.extensions.Load(); q != nil {
		(*q).AddAfter(request(name), wait)
	}
	return wait
}

func reasonOf(list []metav1.Condition, name string) string {
	if c := byType(list, name); c != nil {
		return c.Reason
	}
	return ""
}
