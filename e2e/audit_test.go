package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/olmgate/olmgate/e2e/gate"
)

// event is what of an audit event matters here.
type event struct {
	Verb           string
	User           struct{ Username string }
	ObjectRef      struct{ Name string }
	ResponseStatus struct {
		Code   int
		Reason string
	}
	Annotations map[string]string
}

// audit reads the audit events about one extension, in the order in which they came.
func (w *world) audit(name string) []event {
	w.Helper()
	log, err := os.ReadFile(w.AuditLog())
	if err != nil {
		w.Fatal(err)
	}
	var found []event
	for line := range bytes.Lines(log) {
		var e event
		if !bytes.HasSuffix(line, []byte("\n")) { // is being written
			continue
		}
		if err := json.Unmarshal(line, &e); err != nil {
			w.Fatalf("audit event %s: %v", line, err)
		}
		if e.ObjectRef.Name == name {
			found = append(found, e)
		}
	}
	return found
}

// audited waits for an audit event about an extension that olmgate annotated, and returns the last one with its
// annotations: a creation has no name in the log, so it is looked for by another verb.
func (w *world) audited(name string) (event, map[string]string) {
	w.Helper()
	var last event
	var annotations map[string]string
	w.eventually(func() error {
		for _, e := range w.audit(name) {
			if found := e.ofOlmgate(); len(found) > 0 {
				last, annotations = e, found
			}
		}
		if annotations == nil {
			return errors.New("no audit event of olmgate's about " + name)
		}
		return nil
	})
	return last, annotations
}

// ofOlmgate are olmgate's annotations, by their short keys.
func (e event) ofOlmgate() map[string]string {
	found := map[string]string{}
	for key, value := range e.Annotations {
		if short, ok := strings.CutPrefix(key, gate.WebhookName+"/"); ok {
			found[short] = value
		}
	}
	return found
}
