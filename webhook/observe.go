package webhook

import (
	"context"
	"log/slog"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// observe counts an answer and logs what a person may ask about later: denials, warnings, ways past them and errors.
func (h *Handler) observe(ctx context.Context, req *admission.Request, a answer, took time.Duration) {
	h.Metrics.observeAnswer(a, took)
	level, message := slog.LevelDebug, "admitted"
	switch {
	case a.err != nil:
		level, message = slog.LevelError, "admitted without a check"
	case a.bypass != "":
		level, message = slog.LevelWarn, "bypassed"
	case a.label() == decisionDeny:
		level, message = slog.LevelInfo, "denied"
	case a.label() == decisionWarn:
		level, message = slog.LevelInfo, "admitted with warnings"
	}
	if !h.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("extension", req.Name),
		slog.String("operation", string(req.Operation)),
		slog.String("user", req.UserInfo.Username),
		slog.String("uid", string(req.UID)),
		slog.Bool("dryRun", req.DryRun != nil && *req.DryRun),
		slog.String("outcome", a.outcome),
		slog.String("reason", string(a.reason())),
		slog.Duration("took", took),
	}
	if v := a.verdict; v != nil {
		attrs = append(attrs,
			slog.String("package", v.Package),
			slog.String("catalog", v.Catalog),
			slog.String("field", v.Field),
			slog.String("rule", string(h.Rule)),
			slog.String("message", v.Message))
		if v.Bundle != nil {
			attrs = append(attrs, slog.String("bundle", v.Bundle.Name))
		}
		notes := make([]string, len(v.Notes))
		for i, n := range v.Notes {
			notes[i] = string(n.Reason)
		}
		attrs = append(attrs, slog.Any("notes", notes))
	}
	if a.bypass != "" {
		attrs = append(attrs, slog.String("bypass", a.bypassText()))
	}
	if a.decision.spared != "" {
		attrs = append(attrs, slog.String("spared", a.decision.spared))
	}
	if a.err != nil {
		attrs = append(attrs, slog.String("error", a.err.Error()))
	}
	h.Log.LogAttrs(ctx, level, message, attrs...)
}
