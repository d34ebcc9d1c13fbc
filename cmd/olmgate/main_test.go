package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the golden parts of testdata/script anew")

// TestMain lets the scripts run olmgate: the test binary stands in for it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"olmgate": main})
}

// TestGoldenScripts runs testdata/script. The scripts have two more commands:
//
//	status N olmgate ARG...   runs olmgate and wants exit status N
//	bytes FILE TEXT...        writes text with the escapes of a Go string, for what a script cannot hold
func TestGoldenScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("KUBECONFIG", "")
			e.Setenv("NO_COLOR", "")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": wantStatus, "bytes": writeBytes},
	})
}

func wantStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: bytes FILE TEXT...")
	}
	var out []byte
	for _, a := range args[1:] {
		text, err := strconv.Unquote(`"` + a + `"`)
		ts.Check(err)
		out = append(out, text...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out, 0o600))
}

// answer is what a command line gives.
type answer struct {
	code     int
	out, err string
}

// olmgate runs a command line in this process.
func olmgate(t *testing.T, in io.Reader, args ...string) answer {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), args, streams{in: in, out: &out, err: &errs})
	return answer{code, out.String(), errs.String()}
}
