package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/olmgate/olmgate/e2e/sandbox"
)

// unavailableCode is what a helper exits with where sandboxes are not permitted.
const unavailableCode = 77

// helpers are the programs the tests run in a sandbox.
var helpers = map[string]func() int{
	"contain": helpContain,
	"exit":    func() int { return 42 },
	"look":    helpLook,
	"orphans": helpOrphans,
	"serve":   helpServe,
	"wait":    helpWait,
}

// helpLook prints what a program sees of the sandbox.
func helpLook() int {
	addresses, err := net.LookupHost(exampleName)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("hosts", strings.Join(addresses, " "))
	listener, err := net.Listen("tcp", "10.200.0.7:443")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("listening", listener.Addr())
	entries, err := os.ReadDir("/run/secrets")
	fmt.Println("secrets", len(entries), errors.Is(err, os.ErrNotExist))
	fmt.Println("inside", sandbox.Inside(), "parent", os.Getppid())
	return 0
}

// helpOrphans leaves an orphan behind and then checks its own child's status.
func helpOrphans() int {
	orphan := exec.Command("sh", "-c", "sh -c 'exit 3' & exit 0")
	if err := orphan.Run(); err != nil {
		fmt.Println(err)
		return 1
	}
	var exit *exec.ExitError
	if err := exec.Command("sh", "-c", "exit 9").Run(); !errors.As(err, &exit) || exit.ExitCode() != 9 {
		fmt.Println("the child's exit code was lost:", err)
		return 1
	}
	return 0
}

// helpServe answers one connection that comes from outside.
func helpServe() int {
	listener, err := net.Listen("tcp", "10.200.0.1:8000")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	outside := sandbox.Listener("api")
	go sandbox.ForwardTo(outside, listener.Addr().String())
	fmt.Println(outside.Addr())
	conn, err := listener.Accept()
	if err != nil {
		return 1
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "hello from inside\n")
	_ = conn.(*net.TCPConn).CloseWrite()
	_, _ = io.Copy(io.Discard, conn) // ending now would cut the answer short
	return 0
}

// helpWait says that it runs, and ends with a code of its own when told to.
func helpWait() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Println("ready")
	<-ctx.Done()
	return 7
}

// helpContain leaves what a kubelet would: files, mounts, changed settings, and a
// process in a control group of its own. It prints the group, the folder of
// temporary files and that process, and waits like helpWait.
func helpContain() int {
	dir, err := os.MkdirTemp("", "mount-")
	if err == nil {
		err = unix.Mount("tmpfs", dir, "tmpfs", 0, "")
	}
	if err == nil {
		err = os.WriteFile("/proc/sys/vm/panic_on_oom", []byte("2"), 0o644)
	}
	if err == nil {
		err = sandbox.Attract(netip.MustParsePrefix("10.0.0.0/24"))
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	sleeper := exec.Command("sleep", "600")
	if err := sleeper.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	groups, err := filepath.Glob("/sys/fs/cgroup/*" + sandbox.CgroupRoot())
	if err != nil || len(groups) == 0 {
		groups = []string{"/sys/fs/cgroup" + sandbox.CgroupRoot()}
	}
	for _, group := range groups {
		inner := filepath.Join(group, "outer", "inner")
		err := os.MkdirAll(inner, 0o755)
		if err == nil && strings.HasPrefix(inner, "/sys/fs/cgroup/pids/") {
			err = os.WriteFile(filepath.Join(inner, "cgroup.procs"), []byte(strconv.Itoa(sleeper.Process.Pid)), 0o644)
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
	}
	fmt.Println(sandbox.CgroupRoot())
	fmt.Println(filepath.Dir(dir))
	return helpWait()
}

// helper is a sandboxed program that a test started.
type helper struct {
	cmd    *exec.Cmd
	output *bufio.Reader
}

// startHelper runs the test binary as a sandboxed program, or skips the test.
func startHelper(t *testing.T, name string) *helper {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+name)
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &helper{cmd: cmd, output: bufio.NewReader(output)}
}

// line returns the next line the program prints.
func (h *helper) line(t *testing.T) string {
	t.Helper()
	line, err := h.output.ReadString('\n')
	if err != nil {
		h.code(t)
		t.Fatalf("no output from the program inside: %v", err)
	}
	return strings.TrimSpace(line)
}

// code waits for the end of the program.
func (h *helper) code(t *testing.T) int {
	t.Helper()
	_, _ = io.Copy(io.Discard, h.output)
	_ = h.cmd.Wait()
	code := h.cmd.ProcessState.ExitCode()
	if code == unavailableCode && !sandbox.Required() {
		t.Skip("sandboxes are not permitted here")
	}
	return code
}
