package load

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A verdict is what an answer was worth.
type verdict struct {
	failed, wrong bool
	// message says what was expected and what came; empty when all was right.
	message string
}

// judge compares an answer with the right one. Anything that is neither an
// admission nor a denial was no answer to the question: it has failed.
//
// A denial may come as a warning with the same reason: that is what olmgate does
// when the API server is too slow to confirm it, as on a machine that is busy.
func judge(c Case, err error, warned []string) verdict {
	name := c.Object.GetName()
	if err == nil {
		if c.Denied == "" || slices.ContainsFunc(warned, func(w string) bool { return strings.HasPrefix(w, "olmgate: "+c.Denied+": ") }) {
			return verdict{}
		}
		return verdict{wrong: true, message: fmt.Sprintf("%s: allowed with the warnings %q, want a denial for %s", name, warned, c.Denied)}
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusForbidden {
		return verdict{failed: true, message: fmt.Sprintf("%s: no answer: %v", name, err)}
	}
	switch reason := string(apierrors.ReasonForError(err)); {
	case c.Denied == "":
		return verdict{wrong: true, message: fmt.Sprintf("%s: denied, want it allowed: %v", name, err)}
	case reason != c.Denied:
		return verdict{wrong: true, message: fmt.Sprintf("%s: denied for %s, want %s: %v", name, reason, c.Denied, err)}
	}
	return verdict{}
}
