package webhook

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Handler judges the ClusterExtensions of admission requests.
type Handler struct {
	Options
	fresh *freshLists
	pool  *pool
}

var _ admission.Handler = (*Handler)(nil)

// NewHandler checks the options and fills in their defaults.
func NewHandler(o Options) (*Handler, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	h := &Handler{Options: o, pool: newPool()}
	h.fresh = &freshLists{timeout: freshListTimeout, list: h.listFresh}
	return h, nil
}

// Handle answers one request. It never denies for any reason but a failed verdict, and never takes longer than the
// context's deadline, which Endpoint derives from the API server's; without one, than 80 % of the API server's default.
func (h *Handler) Handle(ctx context.Context, req admission.Request) (response admission.Response) {
	// The judgement has a recovery of its own; this one is for what comes after it.
	defer func() {
		if p := recover(); p != nil {
			a := failedOpen(errorPanic, fmt.Errorf("panic: %v", p))
			h.Metrics.observeAnswer(a, 0)
			response = a.response(&req)
		}
	}()
	start := h.Now()
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ownShare(defaultTimeout))
		defer cancel()
	}
	a := h.answerWithin(ctx, &req)
	if a.outcome != outcomeNotEvaluated {
		a.audit = auditAnnotations(a.verdict, a.outcome, a.reason(), h.Rule, h.Mode, a.bypassText())
	}
	h.observe(ctx, &req, a, h.Now().Sub(start))
	return a.response(&req)
}

// answerWithin judges in another goroutine, so that nothing that hangs outlives the deadline.
func (h *Handler) answerWithin(ctx context.Context, req *admission.Request) answer {
	answers := make(chan answer, 1)
	h.pool.run(func() {
		defer func() {
			if p := recover(); p != nil {
				answers <- failedOpen(errorPanic, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			}
		}()
		answers <- h.judge(ctx, req)
	})
	select {
	case a := <-answers:
		return a
	case <-ctx.Done():
		return failedOpen(errorDeadline, fmt.Errorf("judge the object in time: %w", context.Cause(ctx)))
	}
}

// judge is the way of a request through the rules: who and what is looked at, the verdict, and, before a denial, the
// verdict on what the API server has at this moment.
func (h *Handler) judge(ctx context.Context, req *admission.Request) answer {
	if !operationCounts(req) {
		return notEvaluated()
	}
	if err := checkKind(&req.AdmissionRequest); err != nil {
		return failedOpen(errorKind, fmt.Errorf("read the request: %w", err))
	}
	obj, err := decodeObject(req.Object.Raw)
	if err != nil {
		return failedOpen(errorDecode, fmt.Errorf("read the object: %w", err))
	}
	counts, err := changeCounts(req, obj)
	if err != nil {
		return failedOpen(errorDecode, fmt.Errorf("read the old object: %w", err))
	}
	if !counts {
		return notEvaluated()
	}
	if by := bypass(req.UserInfo, h.BreakGlass, h.Exempt); by != "" {
		return bypassed(by)
	}

	cached, err := h.listCached(ctx)
	if err != nil {
		return failedOpen(errorList, err)
	}
	ext := obj.extension()
	v := h.resolve(ext, cached)
	spare := ""
	why := h.BreakGlass.spareByAnnotation(obj.Metadata.Annotations)
	if why != "" {
		spare = fmt.Sprintf("its annotation %s says %q", BypassAnnotation, cut(why, 60))
	}
	d := decide(&v, h.Policy, h.Mode, spare)
	if d.action == Deny {
		v, d = h.confirm(ctx, ext, v)
	}
	a := judged(&v, d)
	if spare != "" && d.spared == spare {
		a.bypass, a.bypassWhy = bypassAnnotation, why
	}
	return a
}

func (h *Handler) listCached(ctx context.Context) ([]ocv1.ClusterCatalog, error) {
	var list ocv1.ClusterCatalogList
	if err := h.Cached.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list ClusterCatalogs from the cache: %w", err)
	}
	return list.Items, nil
}

func (h *Handler) listFresh(ctx context.Context) ([]ocv1.ClusterCatalog, error) {
	start := h.Now()
	var list ocv1.ClusterCatalogList
	err := h.Fresh.List(ctx, &list)
	h.Metrics.observeFreshList(err, h.Now().Sub(start))
	return list.Items, err
}

// ownShare is the part of the API server's timeout that olmgate allows itself, so that its own answer arrives first.
func ownShare(timeout time.Duration) time.Duration { return timeout / 5 * 4 }
