package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// runInit is process 1 of the sandbox. Its end is the end of everything inside.
func runInit(config Config) int {
	syscall.CloseOnExec(reportFD)
	report := os.NewFile(reportFD, "report")
	inner, err := startInner(config, report)
	report.Close()
	if err != nil {
		return exitStatus
	}
	stop := forwardSignals(func(s os.Signal) {
		_ = syscall.Kill(inner, s.(syscall.Signal))
	})
	defer stop()
	return reapUntil(inner)
}

// startInner sets the sandbox up and starts the inner copy. What goes wrong is
// written to the report for the outer copy to tell.
func startInner(config Config, report *os.File) (pid int, err error) {
	defer func() {
		if err != nil {
			fmt.Fprintln(report, err)
		}
	}()
	if err := setUpNetwork(); err != nil {
		return 0, err
	}
	if err := setUpMounts(config.Hosts); err != nil {
		return 0, err
	}
	if config.Containers {
		if err := setUpForContainers(); err != nil {
			return 0, err
		}
	}
	files := []uintptr{0, 1, 2}
	for i := range config.Forward {
		syscall.CloseOnExec(initListenerFD + i)
		files = append(files, uintptr(initListenerFD+i))
	}
	pid, err = syscall.ForkExec("/proc/self/exe", os.Args, &syscall.ProcAttr{
		Env:   append(withoutStage(os.Environ()), stageEnv+"="+stageInner),
		Files: files,
	})
	if err != nil {
		return 0, fmt.Errorf("starting the program inside: %w", err)
	}
	return pid, nil
}

func withoutStage(env []string) []string {
	kept := make([]string, 0, len(env))
	for _, entry := range env {
		if len(entry) <= len(stageEnv) || entry[:len(stageEnv)+1] != stageEnv+"=" {
			kept = append(kept, entry)
		}
	}
	return kept
}

// reapUntil collects every child until the given one ends, and returns its code.
func reapUntil(inner int) int {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			fmt.Fprintln(os.Stderr, "sandbox: waiting for the program inside:", err)
			return exitStatus
		case pid == inner && (status.Exited() || status.Signaled()):
			return exitCode(status)
		}
	}
}
