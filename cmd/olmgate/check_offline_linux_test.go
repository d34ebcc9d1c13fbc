//go:build amd64 || arm64

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// noSockets names the arguments of a command line that is run in a process whose kernel kills it for a socket.
const noSockets = "OLMGATE_TEST_NO_SOCKETS"

// TestNoSocketsChild is that process.
func TestNoSocketsChild(t *testing.T) {
	text := os.Getenv(noSockets)
	if text == "" {
		t.Skip("it is started by TestOfflineOpensNoSocket")
	}
	var args []string
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		t.Fatal(err)
	}
	if err := forbidSockets(); err != nil {
		t.Skipf("seccomp: %v", err)
	}
	os.Exit(10 + run(t.Context(), args, streams{in: strings.NewReader(""), out: os.Stdout, err: os.Stderr}))
}

// forbidSockets lets the kernel kill this process, whichever thread it is, when it asks for a socket.
func forbidSockets() error {
	runtime.LockOSThread()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_SOCKET, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); errno != 0 {
		return errno
	}
	return nil
}

// offlineChild runs a command line without sockets; killed is whether it asked for one. It is skipped where that cannot be
// forbidden.
func offlineChild(t *testing.T, dir string, args ...string) (code int, killed bool, out string) {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNoSocketsChild$")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), noSockets+"="+string(text))
	raw, _ := cmd.CombinedOutput() // the exit status is what is asked for
	if cmd.ProcessState.ExitCode() == 0 {
		t.Skipf("sockets cannot be forbidden here: %s", raw)
	}
	state, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return cmd.ProcessState.ExitCode() - 10, state.Signaled() && state.Signal() == syscall.SIGSYS, string(raw)
}

func TestOfflineOpensNoSocket(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("apps/kiln.yaml", wholeKiln)
	write("apps/kustomization.yaml", "resources: [kiln.yaml]\n")
	write("remote/kustomization.yaml", "resources: [\"https://example.com/a?ref=b\"]\n")
	write("catalogs/hub.jsonl", hub)
	write("catalog.yaml", "apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\nmetadata: {name: other}\nspec: {source: {type: Image, image: {ref: example.com/other:1}}}\n")
	server := "--server=" + apiServer(t)

	// The filter works: asking the cluster ends the process.
	if _, killed, out := offlineChild(t, dir, "check", "apps", server); !killed {
		t.Fatalf("a socket was not forbidden: %s", out)
	}
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"files":                        {[]string{"apps", "--catalogs", "catalogs"}, exitOK},
		"a kustomization":              {[]string{"-k", "apps", "--catalogs", "catalogs"}, exitOK},
		"a remote base":                {[]string{"-k", "remote", "--catalogs", "catalogs"}, exitUsage},
		"a base":                       {[]string{"apps", "--catalogs", "catalogs", "--base", "apps"}, exitOK},
		"a cluster that is not asked":  {[]string{"apps", server}, exitUsage},
		"catalogs that are not pulled": {[]string{"apps", "catalog.yaml"}, exitUndecided},
		"an image that is not cached":  {[]string{"apps", "--catalog", "hub=oci://example.com/hub:1", "--cache-dir", "cache"}, exitUsage},
		"the schema":                   {[]string{"apps", "--schema-only"}, exitOK},
	} {
		t.Run(name, func(t *testing.T) {
			code, killed, out := offlineChild(t, dir, append(append([]string{"check"}, c.args...), "--offline")...)
			if killed || code != c.want {
				t.Errorf("exit status %d, killed for a socket: %v\n%s", code, killed, out)
			}
		})
	}
}
