package e2e_test

import (
	"fmt"
	"strings"

	"github.com/olmgate/olmgate/e2e/gate"
)

// answer is what kubectl printed. Run the tests with -v to read it.
type answer struct {
	w         *world
	did       string
	out, errs string
	failed    bool
}

// kubectl runs a command, whatever comes of it.
func (w *world) kubectl(args ...string) answer {
	w.Helper()
	return w.kubectlWith("", args...)
}

func (w *world) kubectlWith(stdin string, args ...string) answer {
	w.Helper()
	out, errs, err := w.Cluster.Kubectl(w.ctx(), []byte(stdin), args...)
	a := answer{w: w, did: "kubectl " + strings.Join(args, " "), out: out, errs: errs, failed: err != nil}
	w.Logf("$ %s\n%s", a.did, a.text())
	return a
}

// apply applies a manifest.
func (w *world) apply(manifest string, flags ...string) answer {
	w.Helper()
	return w.kubectlWith(manifest, append([]string{"apply", "-f", "-"}, flags...)...)
}

// try applies a manifest without storing anything.
func (w *world) try(manifest string) answer {
	w.Helper()
	return w.apply(manifest, "--dry-run=server")
}

func (a answer) text() string { return strings.TrimSpace(a.errs + a.out) }

// trySays tries a manifest until kubectl's answer holds a text.
func (w *world) trySays(manifest, text string) answer {
	w.Helper()
	w.eventually(func() error {
		_, errs, _ := w.Cluster.Kubectl(w.ctx(), []byte(manifest), "apply", "-f", "-", "--dry-run=server")
		if a := (answer{errs: errs}); !strings.Contains(errs, text) && !strings.Contains(a.spoken(), text) {
			return fmt.Errorf("%q is not in: %s", text, errs)
		}
		return nil
	})
	return w.try(manifest)
}

// warnings are the lines that kubectl shows as olmgate's warnings.
func (a answer) warnings() []string { return grep(a.errs, "Warning: olmgate: ") }

// denied expects a denial for a reason, whose text holds all parts.
func (a answer) denied(reason string, parts ...string) answer {
	a.w.Helper()
	if a.failed && strings.Contains(a.errs, "Error from server ("+reason+")") &&
		strings.Contains(a.errs, `admission webhook "`+gate.WebhookName+`" denied the request: `) {
		return a.says(parts...)
	}
	a.w.Errorf("%s: want a denial for %s, got: %s", a.did, reason, a.text())
	return a
}

// admitted expects success without a word from olmgate.
func (a answer) admitted() answer {
	a.w.Helper()
	if a.failed || len(a.warnings()) > 0 {
		a.w.Errorf("%s: want it admitted without warnings, got: %s", a.did, a.text())
	}
	return a
}

// warned expects success with a warning for a reason, and a text that holds all parts.
func (a answer) warned(reason string, parts ...string) answer {
	a.w.Helper()
	if a.failed || len(grep(a.errs, "Warning: olmgate: "+reason+": ")) == 0 {
		a.w.Errorf("%s: want it admitted with the warning %s, got: %s", a.did, reason, a.text())
		return a
	}
	return a.says(parts...)
}

// warnedBeside expects a warning beside a denial.
func (a answer) warnedBeside(reason string) {
	a.w.Helper()
	if len(grep(a.errs, "Warning: olmgate: "+reason+": ")) == 0 {
		a.w.Errorf("%s: want the warning %s too, got: %s", a.did, reason, a.text())
	}
}

// says expects parts of the text. Warnings are joined, since a long one goes over several lines.
func (a answer) says(parts ...string) answer {
	a.w.Helper()
	for _, part := range parts {
		if !strings.Contains(a.errs, part) && !strings.Contains(a.spoken(), part) {
			a.w.Errorf("%s: want %q in: %s", a.did, part, a.text())
		}
	}
	return a
}

// spoken are the warnings as one text, without what begins each line.
func (a answer) spoken() string {
	var texts []string
	for _, line := range a.warnings() {
		_, text, _ := strings.Cut(strings.TrimPrefix(line, "Warning: olmgate: "), ": ")
		texts = append(texts, strings.TrimPrefix(text, "… "))
	}
	return strings.Join(texts, " ")
}
