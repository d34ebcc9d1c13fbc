package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	cgroupMount = "/sys/fs/cgroup"
	// processList is the file that makes a folder a control group.
	processList = "cgroup.procs"
)

// CgroupRoot is the control group, from the root of each hierarchy, below which
// everything started in a sandbox for containers belongs: it is removed with the
// sandbox. It is empty in a sandbox without containers.
func CgroupRoot() string {
	if name := os.Getenv(cgroupEnv); name != "" {
		return "/" + name
	}
	return ""
}

// hierarchies are where control groups are mounted: one folder with cgroup v2,
// one for each controller with v1.
func hierarchies() ([]string, error) {
	if isCgroup(cgroupMount) {
		return []string{cgroupMount}, nil
	}
	entries, err := os.ReadDir(cgroupMount)
	if err != nil {
		return nil, fmt.Errorf("looking for control groups: %w", err)
	}
	var found []string
	for _, entry := range entries {
		// Links are other names of the same hierarchy.
		if dir := filepath.Join(cgroupMount, entry.Name()); entry.IsDir() && isCgroup(dir) {
			found = append(found, dir)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no control groups are mounted below %s: mount them", cgroupMount)
	}
	return found, nil
}

func isCgroup(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, processList))
	return err == nil
}

// makeCgroups makes a control group in every hierarchy.
func makeCgroups(name string) error {
	dirs, err := hierarchies()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return fmt.Errorf("making a control group: %w", err)
		}
	}
	return nil
}

// removeCgroups removes a control group and those below it from every hierarchy.
// It fails while one of them has a process.
func removeCgroups(name string) error {
	dirs, err := hierarchies()
	if err != nil {
		return err
	}
	var failures []error
	for _, dir := range dirs {
		failures = append(failures, removeCgroup(filepath.Join(dir, name)))
	}
	return errors.Join(failures...)
}

// removeCgroup removes the folders of a tree, the innermost first. The files in
// them cannot be removed and go with their folder.
func removeCgroup(root string) error {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			dirs = append(dirs, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(dirs) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// killTimeout bounds the wait for processes that were killed.
const killTimeout = 10 * time.Second

// KillContainers ends every process of the sandbox's control group and waits until
// they are gone.
func KillContainers() {
	dirs, err := hierarchies()
	if err != nil || CgroupRoot() == "" {
		return
	}
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(killTimeout); time.Now().Before(deadline); <-ticker.C {
		found := false
		for _, dir := range dirs {
			for _, pid := range members(filepath.Join(dir, CgroupRoot())) {
				found = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if !found {
			return
		}
	}
}

// members lists the processes of a control group and of those below it.
func members(root string) []int {
	var pids []int
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, _ error) error {
		if entry == nil || entry.Name() != processList {
			return nil
		}
		content, _ := os.ReadFile(path) // nothing is in a group that is gone meanwhile
		for _, field := range strings.Fields(string(content)) {
			// Zero stands for a process that cannot be seen from here.
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	return pids
}
