package node

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/olmgate/olmgate/e2e/sandbox"
)

// shim is the program that stays with each Pod when containerd ends.
const shim = "usr/bin/containerd-shim-runc-v2"

// Stop ends the containers and lets go of the cluster's folder, so that it can be
// removed. The control plane runs on. What remains goes with the sandbox.
func (n *Node) Stop() {
	// In this order nobody is left who would start something again.
	if n.kubelet != nil {
		n.kubelet.Kill()
	}
	if n.containerd != nil {
		n.containerd.Kill()
	}
	for _, pid := range running(n.packaged(shim)) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	sandbox.KillContainers()
	// The last mounted first. Detached, they need not wait for their last user.
	for _, target := range slices.Backward(mountsBelow(n.dir, containerdState)) {
		_ = unix.Unmount(target, unix.MNT_DETACH)
	}
}

// running finds the processes of a program.
func running(program string) []int {
	var found []int
	links, _ := filepath.Glob("/proc/[0-9]*/exe") // the pattern is correct
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || target != program { // ended meanwhile
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// mountsBelow lists what is mounted in some folders, in the order of mounting.
func mountsBelow(dirs ...string) []string {
	table, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	defer table.Close()
	var found []string
	for lines := bufio.NewScanner(table); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		const mountPoint = 4
		if len(fields) <= mountPoint {
			continue
		}
		for _, dir := range dirs {
			if strings.HasPrefix(fields[mountPoint], dir+"/") {
				found = append(found, fields[mountPoint])
			}
		}
	}
	return found
}
