package sandbox

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// Descriptors the init copy inherits: the set-up report, then the listeners.
const (
	reportFD        = 3
	initListenerFD  = 4
	innerListenerFD = 3 // the report stays with the init copy
)

// runOuter creates the namespaces, waits for the init copy and returns its code.
func runOuter(config Config) (int, error) {
	// The kernel sends Pdeathsig when the creating thread ends, not the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	listeners, closeListeners, err := openListeners(config.Forward)
	if err != nil {
		return exitStatus, err
	}
	defer closeListeners()
	env := os.Environ()
	if config.Containers {
		ground, err := breakGround()
		if err != nil {
			return exitStatus, unavailable(err)
		}
		defer ground.clear()
		env = append(env, ground.environment()...)
	}
	report, reportWriter, err := os.Pipe()
	if err != nil {
		return exitStatus, fmt.Errorf("opening the report pipe: %w", err)
	}
	defer report.Close()

	cmd := exec.Command("/proc/self/exe")
	cmd.Args = os.Args
	env = append(env, stageEnv+"="+stageInit)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = append([]*os.File{reportWriter}, listeners...)
	cmd.SysProcAttr = namespaces()
	err = cmd.Start()
	reportWriter.Close()
	if err != nil {
		return exitStatus, unavailable(fmt.Errorf("creating namespaces: %w", err))
	}
	stop := forwardSignals(func(s os.Signal) { _ = cmd.Process.Signal(s) })
	defer stop()
	problem, _ := io.ReadAll(report)
	err = cmd.Wait()
	if text := strings.TrimSpace(string(problem)); text != "" {
		return exitStatus, unavailable(fmt.Errorf("%w: %s", errSetup, text))
	}
	if cmd.ProcessState == nil {
		return exitStatus, fmt.Errorf("waiting for the sandbox: %w", err)
	}
	return exitCode(cmd.ProcessState.Sys().(syscall.WaitStatus)), nil
}

// namespaces asks for an own network, mount table and process tree, and without
// root for a user namespace in which the caller is root.
func namespaces() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
		// A group of its own: Ctrl-C in a terminal reaches only this copy, which
		// passes it on once, and none of the programs started inside.
		Setpgid: true,
	}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}

// openListeners opens one socket for each name on the loopback device of the
// network this copy runs in: a socket keeps its network for life.
func openListeners(names []string) (files []*os.File, closeAll func(), err error) {
	closeAll = func() {
		for _, file := range files {
			file.Close()
		}
	}
	for _, name := range names {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("opening the outside socket for %s: %w", name, err)
		}
		file, err := listener.(*net.TCPListener).File()
		listener.Close()
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("passing on the outside socket for %s: %w", name, err)
		}
		files = append(files, file)
	}
	return files, closeAll, nil
}
