package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/resolver"
)

// maxInput bounds one input file, in bytes: thousands of objects. Parsed YAML takes many times its size in memory.
const maxInput = 32 << 20

// extension is a ClusterExtension with where it was found.
type extension struct {
	object *ocv1.ClusterExtension
	at     *resolver.Location // nil when it came from a cluster
}

// reader finds the ClusterExtensions in files.
type reader struct {
	in    io.Reader
	found []extension
	// passed counts the objects of other kinds by kind, so that finding nothing can be explained.
	passed   map[string]int
	bytes    int
	warnings []warning
}

// warning is something that a person should know and that does not end the run. The same about many objects is one.
type warning struct {
	at   string
	text string
	more int
}

func (r *reader) warn(at, text string) {
	for i := range r.warnings {
		if r.warnings[i].text == text {
			r.warnings[i].more++
			return
		}
	}
	r.warnings = append(r.warnings, warning{at: at, text: text})
}

func (w warning) String() string {
	s := w.at + ": " + w.text
	if w.more > 0 {
		s += fmt.Sprintf(" (and %d more like this)", w.more)
	}
	return s
}

// read adds the extensions of a file, of every YAML and JSON file below a directory, or of standard input for "-".
func (r *reader) read(name string) error {
	switch name {
	case "":
		return errors.New(`-f "" names no file`)
	case "-":
		return r.stream("<stdin>", r.in)
	}
	info, err := os.Stat(name)
	if err != nil {
		return unreadable(name, err)
	}
	if !info.IsDir() {
		return r.file(name, info)
	}
	files := 0
	// With the separator behind it, a link to a directory is followed.
	err = filepath.WalkDir(name+string(filepath.Separator), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return unreadable(path, err)
		case entry.IsDir() && hidden(path):
			return filepath.SkipDir
		case entry.IsDir() || hidden(path) || !manifestName(path):
			return nil
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return unreadable(path, err)
		case info.IsDir():
			return nil
		case !info.Mode().IsRegular():
			return fmt.Errorf("cannot read %s: it is not a regular file; remove it, or name it by itself with -f", path)
		}
		files++
		return r.file(path, info)
	})
	if err == nil && files == 0 {
		return fmt.Errorf("directory %s has no .yaml, .yml or .json file", name)
	}
	return err
}

// hidden reports whether a file or directory is one that tools keep for themselves: .git, or the ..data of a mounted
// ConfigMap, whose files would count twice.
func hidden(path string) bool {
	base := filepath.Base(path)
	return strings.HasPrefix(base, ".") && base != "." && base != ".."
}

func manifestName(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path)))
}

// unreadable says which file cannot be read, and why.
func unreadable(name string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if to, linkErr := os.Readlink(name); linkErr == nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot read %s: it is a link to %s: %w", name, to, err)
	}
	return fmt.Errorf("cannot read %s: %w", name, err)
}

func (r *reader) file(name string, info fs.FileInfo) error {
	flag := os.O_RDONLY
	if info.Mode()&fs.ModeNamedPipe != 0 {
		flag |= syscall.O_NONBLOCK // opening a pipe that nobody writes to would wait for ever
	}
	f, err := os.OpenFile(name, flag, 0)
	if err != nil {
		return unreadable(name, err)
	}
	defer f.Close()
	return r.stream(name, f)
}

func (r *reader) stream(name string, in io.Reader) error {
	buffered := bufio.NewReader(io.LimitReader(in, maxInput+1))
	// The beginning of what is no text at all is enough to say so.
	head, err := buffered.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return unreadable(name, err)
	}
	if err := isText(name, head[:whole(head)]); err != nil {
		return err
	}
	text, err := io.ReadAll(buffered)
	if err != nil {
		return unreadable(name, err)
	}
	if len(text) > maxInput {
		return fmt.Errorf("%s is larger than %d MiB: split it", name, maxInput>>20)
	}
	r.bytes += len(text)
	if err := isText(name, text); err != nil {
		return err
	}
	return r.text(name, text)
}

// isText says why a text cannot be YAML or JSON.
func isText(name string, text []byte) error {
	for _, m := range []struct{ mark, is string }{
		{"\xff\xfe", "UTF-16 text: save it as UTF-8"},
		{"\xfe\xff", "UTF-16 text: save it as UTF-8"},
		{"\x1f\x8b", "compressed with gzip: unpack it first, for example gzip -dc FILE | olmgate resolve -f -"},
		{"\x28\xb5\x2f\xfd", "compressed with zstd: unpack it first, for example zstd -dc FILE | olmgate resolve -f -"},
	} {
		if bytes.HasPrefix(text, []byte(m.mark)) {
			return fmt.Errorf("%s is %s", name, m.is)
		}
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return fmt.Errorf("%s:%d: byte %d (%#02x) is not text: expected YAML or JSON as UTF-8", name, 1+bytes.Count(text[:at], []byte("\n")), at, text[at])
		}
		at += size
	}
	return nil
}

// whole is how much of text does not end in the middle of a character.
func whole(text []byte) int {
	for n := len(text); n > 0 && len(text)-n < utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n-1]) {
			if utf8.FullRune(text[n-1:]) {
				return len(text)
			}
			return n - 1
		}
	}
	return len(text)
}

// nothing explains that no extension was found.
func (r *reader) nothing(files []string) error {
	var kinds []string
	for kind, n := range r.passed {
		kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(kinds)
	where := strings.Join(files, ", ")
	if where == "-" {
		where = "standard input"
	}
	switch {
	case r.bytes == 0:
		return fmt.Errorf("no ClusterExtension in %s: it is empty", where)
	case len(kinds) == 0:
		return fmt.Errorf("no ClusterExtension in %s: there is no Kubernetes object in it", where)
	}
	return fmt.Errorf("no ClusterExtension in %s: found %s", where, strings.Join(kinds, ", "))
}
