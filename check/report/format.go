package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Writer writes a report in one format.
type Writer func(w io.Writer, r *Report, o Options) error

// formats are the writers by name. Each registers itself in the file that has it.
var formats = map[string]Writer{}

// Register adds a format. It is for the initialisation of this package's files.
func Register(name string, w Writer) {
	if _, there := formats[name]; there {
		panic("report: two formats of the name " + name)
	}
	formats[name] = w
}

// Formats are the names of all formats: text, then the others by name.
func Formats() []string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(formats)), func(n string) bool { return n == "text" })
	return append([]string{"text"}, names...)
}

// ByName is the writer of a format.
func ByName(name string) (Writer, error) {
	if w, ok := formats[name]; ok {
		return w, nil
	}
	names := Formats()
	last := len(names) - 1
	return nil, fmt.Errorf("unknown output format %q: it is %s or %s", name, strings.Join(names[:last], ", "), names[last])
}
