package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestThousandsOfExtensionsReadTheCatalogsOnce counts, by the kernel's notice, how often the catalog's file is opened.
func TestThousandsOfExtensionsReadTheCatalogsOnce(t *testing.T) {
	const many = 2000
	var catalog, documents, list strings.Builder
	list.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for i := range many {
		catalog.WriteString(strings.ReplaceAll(hub, "kiln-operator", fmt.Sprintf("kiln-%d-operator", i)))
		one := strings.NewReplacer("kiln-operator", fmt.Sprintf("kiln-%d-operator", i), "name: kiln", fmt.Sprintf("name: kiln-%d", i)).Replace(kiln)
		documents.WriteString("---\n" + one)
		list.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(one), "\n", "\n  ") + "\n")
	}
	hubFile := put(t, "hub.jsonl", catalog.String())
	opened := func(extensions string) int {
		t.Helper()
		watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
		if err != nil {
			t.Skip(err)
		}
		defer unix.Close(watch)
		if _, err := unix.InotifyAddWatch(watch, hubFile, unix.IN_OPEN|unix.IN_CLOSE_NOWRITE); err != nil {
			t.Skip(err)
		}
		want := strings.Count(extensions, "kind: ClusterExtension\n")
		file := put(t, "extensions.yaml", extensions)
		start := time.Now()
		got := olmgate(t, nil, "resolve", "-f", file, "--catalog", "hub="+hubFile)
		t.Logf("%d extensions in %v", want, time.Since(start).Round(time.Millisecond))
		if got.code != exitOK || strings.Count(got.out, "\nresolved")+1 != want {
			t.Errorf("exit status %d, %s, %d resolved, want %d", got.code, got.err, strings.Count(got.out, "\nresolved")+1, want)
		}
		buf := make([]byte, 1<<16)
		n, err := unix.Read(watch, buf)
		if err != nil {
			t.Fatal(err)
		}
		// Opening and closing take turns, so that the kernel does not merge what is alike.
		return n / unix.SizeofInotifyEvent / 2
	}
	once := opened(kiln1())
	for name, extensions := range map[string]string{"documents": documents.String(), "a List": list.String()} {
		if n := opened(extensions); n != once {
			t.Errorf("%s: the catalog was opened %d times for %d extensions, %d times for one", name, n, many, once)
		}
	}
	// Once to see what it is, once to read it.
	if once != 2 {
		t.Errorf("the catalog was opened %d times for one extension", once)
	}
}

func kiln1() string { return strings.ReplaceAll(kiln, "kiln-operator", "kiln-1-operator") }

func TestPipesDoNotHang(t *testing.T) {
	dir := t.TempDir()
	pipe := dir + "/x.yaml"
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	hubFile := "hub=" + put(t, "hub.jsonl", hub)
	refused(t, olmgate(t, nil, "resolve", "-f", pipe, "--catalog", hubFile), pipe, "it is empty")
	refused(t, olmgate(t, nil, "resolve", "-f", dir, "--catalog", hubFile), pipe, "not a regular file")
	refused(t, olmgate(t, nil, "resolve", "-f", put(t, "k.yaml", kiln), "--catalog", "hub="+pipe), pipe, "not a regular file")
	refused(t, olmgate(t, nil, "resolve", "-f", put(t, "k.yaml", kiln), "--catalogs", dir), pipe, "not a regular file")

	// One that somebody writes to is read, as behind -f <(command).
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString(kiln); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := olmgate(t, nil, "resolve", "-f", fmt.Sprintf("/dev/fd/%d", r.Fd()), "--catalog", hubFile); got.code != exitOK {
		t.Errorf("got %+v", got)
	}
}

// deprecated makes for a message that is longer than a line.
const deprecated = `{"schema":"olm.deprecations","package":"kiln-operator","entries":[{"reference":{"schema":"olm.package"},"message":"kilns are no longer fired here, use the oven-operator of the same vendor, which takes over all of them"}]}`

func TestColourOnATerminalOnly(t *testing.T) {
	t.Setenv("TERM", "xterm")
	args := []string{"resolve", "-f", put(t, "k.yaml", kiln), "--catalog", "hub=" + put(t, "hub.jsonl", hub+deprecated)}
	for name, tc := range map[string]struct {
		env    string
		colour bool
	}{"by default": {"", true}, "with NO_COLOR": {"1", false}} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("NO_COLOR", tc.env)
			if got := onTerminal(t, args); strings.Contains(got, "\x1b[32mresolved") != tc.colour || strings.Contains(got, "\x1b") != tc.colour {
				t.Errorf("got %q", got)
			}
		})
	}
	if got := olmgate(t, nil, args...); strings.Contains(got.out, "\x1b") {
		t.Errorf("no terminal, and got %q", got.out)
	}
}

var escapes = regexp.MustCompile("\r|\x1b\\[[0-9;]*m")

// onTerminal runs a command line on a pseudo-terminal of 60 columns.
func onTerminal(t *testing.T, args []string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 20, Col: 60}); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	if code := run(t.Context(), args, streams{out: terminal, err: &errs}); code != exitOK {
		t.Fatalf("exit status %d: %s", code, errs.String())
	}
	buf := make([]byte, 4096)
	k, err := master.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(escapes.ReplaceAllString(string(buf[:k]), "")) {
		if strings.HasPrefix(line, " ") && len(strings.TrimRight(line, "\n")) > 60 {
			t.Errorf("a line is wider than the terminal: %q", line)
		}
	}
	return string(buf[:k])
}
