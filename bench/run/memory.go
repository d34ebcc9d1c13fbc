package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// memory is a line of /proc/PID/status, in bytes.
func memory(pid int, field string) (float64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), field+":"); ok {
			var kb float64
			_, err := fmt.Sscanf(rest, "%f kB", &kb)
			return kb * 1024, err
		}
	}
	return 0, fmt.Errorf("no %s in /proc/%d/status", field, pid)
}
