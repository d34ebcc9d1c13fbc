package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// cgroupEnv carries the name of the sandbox's control group.
const cgroupEnv = "OLMGATE_SANDBOX_CGROUP"

// ground is what a sandbox for containers takes of the machine outside: a folder
// for temporary files, and a control group in each hierarchy.
type ground struct {
	dir     string
	janitor *exec.Cmd
	// hold is open as long as the outer copy lives.
	hold io.Closer
}

// breakGround makes the folder and starts the janitor before anything is there to
// be cleaned up, and then the control groups.
func breakGround() (*ground, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("containers need root")
	}
	dir, err := os.MkdirTemp("", "olmgate-sandbox-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the sandbox: %w", err)
	}
	g := &ground{dir: dir}
	if err := g.startJanitor(); err != nil {
		os.Remove(dir)
		return nil, err
	}
	if err := makeCgroups(g.cgroup()); err != nil {
		g.clear()
		return nil, err
	}
	return g, nil
}

// cgroup is named after the folder, whose name nobody else has.
func (g *ground) cgroup() string { return filepath.Base(g.dir) }

// environment tells the copies inside what is theirs.
func (g *ground) environment() []string {
	return []string{cgroupEnv + "=" + g.cgroup(), "TMPDIR=" + g.dir}
}

// startJanitor starts a copy of the program that outlives this one. It has a
// session of its own, so that Ctrl-C does not reach it, and none of the caller's
// files, which others may wait to see closed.
func (g *ground) startJanitor() error {
	wait, hold, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("opening the janitor's pipe: %w", err)
	}
	defer wait.Close()
	g.hold = hold
	g.janitor = exec.Command("/proc/self/exe")
	g.janitor.Args = os.Args
	g.janitor.Env = append(os.Environ(), append(g.environment(), stageEnv+"="+stageJanitor)...)
	g.janitor.Stdin = wait
	g.janitor.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := g.janitor.Start(); err != nil {
		hold.Close()
		return fmt.Errorf("starting the janitor: %w", err)
	}
	return nil
}

// clear lets the janitor do its work and waits for it.
func (g *ground) clear() {
	g.hold.Close()
	if err := g.janitor.Wait(); err != nil {
		fmt.Fprintf(os.Stderr, "sandbox: something is left of it: look for %s in %s and %s\n", g.cgroup(), cgroupMount, os.TempDir())
	}
}
