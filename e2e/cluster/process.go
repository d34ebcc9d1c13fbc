package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// ProcessSpec describes a program to run beside the cluster.
type ProcessSpec struct {
	// Name of the process, and of its log file.
	Name string
	// Path and Args are the command line.
	Path string
	Args []string
	// Env is added to a small environment of its own.
	Env []string
	// Ready, when set, is polled until it returns nil; see URLReady.
	Ready func(context.Context) error
	// ReadyTimeout bounds the polling; 30 seconds when zero.
	ReadyTimeout time.Duration
}

// A Process is a program that was started.
type Process struct {
	// Name as in its specification.
	Name string
	// LogFile collects what the program writes.
	LogFile string

	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended
}

const defaultReadyTimeout = 30 * time.Second

// StartProcess starts a program, waits until it is ready, and stops it with the
// cluster. A program started again under the same name adds to the same log.
func (c *Cluster) StartProcess(ctx context.Context, spec ProcessSpec) (*Process, error) {
	p := &Process{Name: spec.Name, LogFile: filepath.Join(c.Dir, "logs", spec.Name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", spec.Name, err)
	}
	defer log.Close()
	p.cmd = exec.Command(spec.Path, spec.Args...)
	p.cmd.Dir = c.Dir
	p.cmd.Env = append(c.environment(), spec.Env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Name, err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	c.remember(p)
	if spec.Ready == nil {
		return p, nil
	}
	timeout := spec.ReadyTimeout
	if timeout == 0 {
		timeout = defaultReadyTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := p.waitReady(ctx, spec.Ready); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// environment is the same on every machine: nothing of the caller's leaks in.
func (c *Cluster) environment() []string {
	return []string{
		"PATH=" + c.options.ToolsDir + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + filepath.Join(c.Dir, "home"),
		"TMPDIR=" + filepath.Join(c.Dir, "tmp"),
	}
}

func (c *Cluster) remember(p *Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes = append(c.processes, p)
}

// waitReady polls until ready succeeds, and gives up when the program ends.
func (p *Process) waitReady(ctx context.Context, ready func(context.Context) error) error {
	return pollUntil(ctx, func(ctx context.Context) (bool, error) {
		select {
		case <-p.done:
			return true, fmt.Errorf("%s ended (%s); its last words:\n%s", p.Name, p.cmd.ProcessState, p.Tail(10))
		default:
		}
		if err := ready(ctx); err != nil {
			return false, fmt.Errorf("%s is not ready: %w; its last words:\n%s", p.Name, err, p.Tail(10))
		}
		return true, nil
	})
}

// PID is the process id inside the sandbox.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends a signal to the program.
func (p *Process) Signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// Terminate asks the program to end, kills it after the grace period, and
// reports whether it ended by itself.
func (p *Process) Terminate(grace time.Duration) bool {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		p.Kill()
		return false
	}
}

// Kill ends the program at once and waits until it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}
