package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// decoyDir holds what stands in for files of /proc.
const decoyDir = "/run/decoys"

// decoys are settings of the whole machine that a kubelet wants to have these
// values: it finds them here, and the machine keeps its own.
var decoys = map[string]string{
	"kernel/keys/root_maxbytes": "25000000",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
}

// setUpForContainers completes the mounts for a kubelet: what it mounts has to
// show in its containers, and what it writes must not reach the machine.
func setUpForContainers() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("sharing mounts with containers: %w", err)
	}
	// The kubelet links the logs of containers in a folder that cannot be chosen.
	if err := unix.Mount("tmpfs", "/var/log", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mounting an empty /var/log: %w", err)
	}
	if err := os.Mkdir(decoyDir, 0o755); err != nil {
		return fmt.Errorf("making a folder for decoys: %w", err)
	}
	for name, value := range decoys {
		if err := putDecoy(filepath.Join("/proc/sys", name), value); err != nil {
			return fmt.Errorf("keeping %s from a kubelet: %w", name, err)
		}
	}
	return nil
}

func putDecoy(file, value string) error {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil // no kubelet will find it either
	}
	decoy := filepath.Join(decoyDir, strings.ReplaceAll(strings.TrimPrefix(file, "/"), "/", "_"))
	if err := os.WriteFile(decoy, []byte(value+"\n"), 0o644); err != nil {
		return err
	}
	return unix.Mount(decoy, file, "", unix.MS_BIND, "")
}
