package config

import "strings"

// FieldError says what is wrong with one field.
type FieldError struct {
	// Path of the field, "" for the file as a whole.
	Path string
	// Problem in a few words, with what to write instead.
	Problem string
}

func (e FieldError) Error() string {
	if e.Path == "" {
		return e.Problem
	}
	return e.Path + ": " + e.Problem
}

// Errors are all that is wrong with a configuration, in the order of the fields.
type Errors []FieldError

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

func (e *Errors) add(path, problem string) { *e = append(*e, FieldError{Path: path, Problem: problem}) }

// err is nil when nothing is wrong.
func (e Errors) err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}
