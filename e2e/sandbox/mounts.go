package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/sys/unix"
)

// setUpMounts gives the sandbox its own /proc, an empty /run and its own
// /etc/hosts; nothing of it shows outside.
func setUpMounts(hosts map[string]string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keeping mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	for _, dir := range runtimeDirs() {
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
			return fmt.Errorf("mounting an empty %s: %w", dir, err)
		}
	}
	file := filepath.Join("/run", "sandbox-hosts")
	if err := os.WriteFile(file, []byte(hostsFile(hosts)), 0o644); err != nil {
		return fmt.Errorf("writing the hosts file: %w", err)
	}
	if err := unix.Mount(file, "/etc/hosts", "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("putting the hosts file in place: %w", err)
	}
	return nil
}

// runtimeDirs returns /run, and /var/run where that is a folder of its own.
func runtimeDirs() []string {
	dirs := []string{"/run"}
	if real, err := filepath.EvalSymlinks("/var/run"); err == nil && real != "/run" {
		dirs = append(dirs, "/var/run")
	}
	return dirs
}

func hostsFile(hosts map[string]string) string {
	names := make([]string, 0, len(hosts))
	for name := range hosts {
		names = append(names, name)
	}
	sort.Strings(names)
	var text strings.Builder
	text.WriteString("127.0.0.1 localhost\n::1 localhost\n")
	for _, name := range names {
		fmt.Fprintf(&text, "%s %s\n", hosts[name], name)
	}
	return text.String()
}
