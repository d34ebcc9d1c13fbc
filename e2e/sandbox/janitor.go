package sandbox

import (
	"errors"
	"io"
	"os"
	"time"
)

// Everything inside dies with the outer copy, but not in the same instant.
const (
	cleaningTimeout  = 30 * time.Second
	cleaningInterval = 100 * time.Millisecond
)

// runJanitor waits until the outer copy is gone and removes what is left. Its exit
// code tells the outer copy, if that is only waiting, whether it could.
func runJanitor() int {
	_, _ = io.Copy(io.Discard, os.Stdin)
	dir, cgroup := os.Getenv("TMPDIR"), os.Getenv(cgroupEnv)
	ticker := time.NewTicker(cleaningInterval)
	defer ticker.Stop()
	for deadline := time.Now().Add(cleaningTimeout); ; <-ticker.C {
		err := errors.Join(removeCgroups(cgroup), os.RemoveAll(dir))
		if err == nil {
			return 0
		}
		if time.Now().After(deadline) {
			return 1
		}
	}
}
