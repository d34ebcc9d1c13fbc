package webhook

import (
	"os"
	"runtime/debug"
)

// gcPercent lets garbage grow to four times what is alive before it is collected.
const gcPercent = 400

// PaceGC makes the garbage collector of this process run less often than Go's default, for a process whose work is to
// serve reviews. What is alive are the indexes of the catalogs, some 15 MB that hardly change; at the default of 100
// they are gone through several times a second under load, and the reviews of that moment are the slowest ones. The
// price is memory while there is load. A GOGC in the environment has precedence, and GOMEMLIMIT bounds it as usual.
func PaceGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
