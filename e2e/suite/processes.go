package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Processes lists what runs in the sandbox besides the tests themselves: the
// command lines of everything that was started and has not ended.
func Processes() ([]string, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || pid == os.Getpid() || pid == os.Getppid() {
			continue
		}
		line, err := os.ReadFile(file)
		if err != nil || len(line) == 0 { // ended meanwhile, or a zombie
			continue
		}
		command := strings.TrimRight(strings.ReplaceAll(string(line), "\x00", " "), " ")
		found = append(found, fmt.Sprintf("%d %s", pid, command))
	}
	return found, nil
}
