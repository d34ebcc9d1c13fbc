package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/olmgate/olmgate/check/report"
)

// output is one -o: a format, and the file that it goes to; "" is standard output.
type output struct {
	write report.Writer
	file  string
}

// parseOutputs reads -o. Without one it is text.
func parseOutputs(list []string) ([]output, error) {
	if len(list) == 0 {
		list = []string{"text"}
	}
	var outputs []output
	used := map[string]bool{}
	for _, text := range list {
		name, file, named := strings.Cut(text, "=")
		write, err := report.ByName(name)
		if err != nil {
			return nil, err
		}
		if named && file == "" {
			return nil, fmt.Errorf("-o %s names no file", text)
		}
		key := file
		if file != "" {
			key = filepath.Clean(file)
		}
		if used[key] {
			if file == "" {
				return nil, errors.New("two formats would go to standard output: give one a file, as in -o json=check.json")
			}
			return nil, fmt.Errorf("two formats would go to %s: give each a file of its own", key)
		}
		used[key] = true
		outputs = append(outputs, output{write, file})
	}
	return outputs, nil
}

// spareInputs refuses outputs that would take the place of what is checked.
func spareInputs(outputs []output, paths []string) error {
	for _, out := range outputs {
		there, err := os.Stat(out.file)
		if out.file == "" || err != nil {
			continue
		}
		for _, p := range paths {
			if info, err := os.Stat(p); err == nil && os.SameFile(info, there) {
				return fmt.Errorf("-o would write over %s, which is to be checked: name another file", p)
			}
		}
	}
	return nil
}

// writeOutputs writes a report in all formats.
func writeOutputs(s streams, outputs []output, r *report.Report, o report.Options) error {
	for _, out := range outputs {
		if out.file == "" {
			screen := newScreen(s.out)
			on := o
			on.Colour, on.Width = screen.colour, screen.width
			if err := out.write(s.out, r, on); err != nil {
				return fmt.Errorf("writing the answer: %w", err)
			}
			continue
		}
		if err := writeFile(out.file, func(w io.Writer) error { return out.write(w, r, o) }); err != nil {
			return fmt.Errorf("writing %s: %w", out.file, err)
		}
	}
	return nil
}

func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
