package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/olmgate/olmgate/e2e/gate"
)

// verb runs a verb of olmgate as the admin of the cluster and returns what it prints and its exit status.
func (w *world) verb(args ...string) (out, errs string, status int) {
	w.Helper()
	cmd := w.command(w.ctx(), args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	raw, _ := cmd.Output() // the exit status counts
	w.Logf("$ olmgate %s\n%s%s", strings.Join(args, " "), raw, stderr.String())
	return string(raw), stderr.String(), cmd.ProcessState.ExitCode()
}

func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	w.Helper()
	binary, err := gate.Build(ctx)
	if err != nil {
		w.Fatal(err)
	}
	return exec.CommandContext(ctx, binary, append(args, "--kubeconfig="+w.KubeconfigPath)...)
}

// installed writes what operator-controller, which is not there, writes into the status.
func (w *world) installed(extension, bundle, version string) {
	w.Helper()
	w.kubectl("patch", "clusterextension", extension, "--subresource=status", "--type=merge",
		fmt.Sprintf(`--patch={"status":{"install":{"bundle":{"name":%q,"version":%q}}}}`, bundle, version)).admitted()
}

// row is a line of a table with single spaces.
func row(line string) string { return strings.Join(strings.Fields(line), " ") }

func TestStatusAndOutdated(t *testing.T) {
	w := gated(t)
	w.catalog(operator("kiln-operator", "1.0.0", "1.0.1", "1.2.0"), 0, "left")
	w.apply(extension("kiln", "packageName: kiln-operator", "version: 1.0.x")).admitted()
	w.installed("kiln", "kiln-operator.v1.0.0", "1.0.0")

	out, _, status := w.verb("status")
	if want := "kiln kiln-operator 1.0.0 1.0.1 left available Resolved"; status != 0 || !strings.Contains(row(out), want) {
		t.Errorf("exit status %d, want 0 and %q", status, want)
	}
	out, _, status = w.verb("outdated")
	if want := `kiln kiln-operator 1.0.0 1.0.1 1.2.0 2 version "1.0.x"`; status != 1 || !strings.Contains(row(out), want) {
		t.Errorf("exit status %d, want 1 and %q", status, want)
	}
	out, _, status = w.verb("outdated", "kiln", "-o", "json")
	if status != 1 || !strings.Contains(out, `"heldBy": [`) {
		t.Errorf("exit status %d, want 1 and an update", status)
	}

	w.catalog(operator("kiln-operator", "1.0.0"), 0, "right")
	out, _, status = w.verb("status")
	if want := "kiln kiln-operator 1.0.0 - - unknown AmbiguousCatalogs"; status != 1 || !strings.Contains(row(out), want) {
		t.Errorf("exit status %d, want 1 and %q", status, want)
	}
	if _, _, status = w.verb("outdated"); status != 3 {
		t.Errorf("exit status %d, want 3", status)
	}
	for _, verb := range []string{"status", "outdated"} {
		if out, errs, status := w.verb(verb, "nosuch"); status != 2 || out != "" || !strings.Contains(errs, `"nosuch" not found; kubectl get`) {
			t.Errorf("exit status %d, want 2 and an error", status)
		}
	}
}

// Somebody who may not list learns what is missing; catalogd that may not be asked leaves all undecided.
func TestStatusForThoseWhoMayNotSee(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	w.apply(extension("kiln", "packageName: kiln-operator")).admitted()
	for _, args := range [][]string{{"status"}, {"status", "--watch"}, {"outdated"}} {
		out, errs, status := w.verb(append(args, "--as=eve")...)
		if status != 2 || out != "" || !strings.Contains(errs, `User "eve" cannot list resource`) || !strings.Contains(errs, "olmgate needs get, list") {
			t.Errorf("exit status %d, want 2 and what is missing", status)
		}
	}
	w.kubectl("create", "clusterrole", "olm-viewer", "--verb=get,list", "--resource=clusterextensions,clustercatalogs")
	w.kubectl("create", "clusterrolebinding", "olm-viewer", "--clusterrole=olm-viewer", "--user=eve")
	t.Cleanup(func() { w.kubectl("delete", "clusterrole,clusterrolebinding", "olm-viewer") })
	w.eventually(func() error {
		if _, errs, status := w.verb("status", "--as=eve"); status != 3 || !strings.Contains(errs, "services/proxy") {
			return fmt.Errorf("exit status %d, want 3 and that services/proxy is missing: %s", status, errs)
		}
		return nil
	})
	if _, errs, status := w.verb("status", "--watch", "--as=eve"); status != 2 || !strings.Contains(errs, "watching the ClusterExtensions") {
		t.Errorf("exit status %d, want 2 and that it may not watch", status)
	}
}

func TestStatusWatch(t *testing.T) {
	w := gated(t)
	content := operator("kiln-operator", "1.0.0")
	w.catalog(content, 0, "left")
	w.apply(extension("kiln", "packageName: kiln-operator")).admitted()
	f := w.follow("status", "--watch")
	f.prints("NAME PACKAGE INSTALLED RESOLVES-TO CATALOG UPDATE REASON", "kiln kiln-operator - 1.0.0 left - Resolved")
	w.catalog(content, 0, "right")
	f.prints("kiln kiln-operator - - - - AmbiguousCatalogs")
	w.kubectl("patch", "clustercatalog", "right", "--type=merge", `--patch={"spec":{"priority":5}}`)
	f.prints("kiln kiln-operator - 1.0.0 right - Resolved")
	w.installed("kiln", "kiln-operator.v1.0.0", "1.0.0")
	f.prints("kiln kiln-operator 1.0.0 1.0.0 right up to date Resolved")

	if err := w.RestartAPIServer(w.ctx()); err != nil {
		t.Fatal(err)
	}
	w.kubectl("patch", "clustercatalog", "left", "--type=merge", `--patch={"spec":{"priority":9}}`)
	f.prints("kiln kiln-operator 1.0.0 1.0.0 left up to date Resolved")

	newer := operator("kiln-operator", "1.0.0", "1.1.0")
	ref, err := w.PushCatalog(w.ctx(), "newer", newer)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.ApplyCatalog(w.ctx(), "left", ref, 9, nil); err != nil {
		t.Fatal(err)
	}
	f.prints("kiln kiln-operator 1.0.0 1.1.0 left available Resolved")
	w.kubectl("delete", "clusterextension", "kiln")
	f.prints("kiln kiln-operator - - - - (deleted)")
	f.interrupt()
}

// following is a verb that runs until it is interrupted.
type following struct {
	w    *world
	cmd  *exec.Cmd
	out  *bufio.Scanner
	errs sync.WaitGroup
}

func (w *world) follow(args ...string) *following {
	w.Helper()
	f := &following{w: w, cmd: w.command(w.ctx(), args...)}
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	errs, err := f.cmd.StderrPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	f.out = bufio.NewScanner(out)
	f.errs.Go(func() {
		text, _ := io.ReadAll(errs)
		w.Logf("standard error of olmgate %s:\n%s", strings.Join(args, " "), text)
	})
	w.Cleanup(func() {
		_ = f.cmd.Process.Kill()
		f.errs.Wait()
	})
	return f
}

// prints waits for these lines, whatever comes in between: a catalog that is new or whose API server was away leaves
// extensions undecided for a moment. The process is killed at the end of the test's time, so that it does not wait for ever.
func (f *following) prints(want ...string) {
	f.w.Helper()
	for _, line := range want {
		for f.out.Scan() && row(f.out.Text()) != line {
			f.w.Log(f.out.Text())
		}
		if row(f.out.Text()) != line {
			f.w.Fatalf("no further line, want %q", line)
		}
	}
}

// interrupt is Ctrl-C, after which the exit status is 0 and nothing more is printed.
func (f *following) interrupt() {
	f.w.Helper()
	if err := f.cmd.Process.Signal(syscall.SIGINT); err != nil {
		f.w.Fatal(err)
	}
	for f.out.Scan() {
		f.w.Errorf("a further line: %q", f.out.Text())
	}
	f.errs.Wait()
	if err := f.cmd.Wait(); err != nil {
		f.w.Errorf("olmgate ends with %v", err)
	}
}
