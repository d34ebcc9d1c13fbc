package cluster

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Tail returns the last lines of the program's log.
func (p *Process) Tail(lines int) string {
	content, err := os.ReadFile(p.LogFile)
	if err != nil {
		return err.Error()
	}
	return string(lastLines(content, lines))
}

func lastLines(content []byte, lines int) []byte {
	content = bytes.TrimRight(content, "\n")
	for end := len(content); lines > 0; lines-- {
		end = bytes.LastIndexByte(content[:end], '\n')
		if end < 0 {
			return content
		}
		if lines == 1 {
			return content[end+1:]
		}
	}
	return nil
}

// DumpLogs writes the end of every log, for a failed test to show.
func (c *Cluster) DumpLogs(w io.Writer, lines int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shown := map[string]bool{}
	for _, p := range c.processes {
		if shown[p.LogFile] {
			continue
		}
		shown[p.LogFile] = true
		fmt.Fprintf(w, "--- end of %s\n%s\n", p.LogFile, p.Tail(lines))
	}
}
