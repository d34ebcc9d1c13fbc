package source

import (
	"errors"
	"fmt"
	"net/http"
)

var (
	// ErrEmpty means that a catalog's content is there and holds nothing. catalogd answers so when the image's configs
	// label names a directory that is absent. It is no proof that the catalog lacks a package.
	ErrEmpty = errors.New("it served no content: the catalog image may have a configs label that names an absent or empty directory")
	// ErrStalled means that no byte arrived for HTTPOptions.Stall.
	ErrStalled = errors.New("the download stalled")
	// ErrDeadline means that a download took longer than HTTPOptions.Total.
	ErrDeadline = errors.New("the download took too long")
	// ErrTruncated means that the content ended before its end. catalogd does this to running downloads when it stops.
	ErrTruncated = errors.New("the content was cut short")
	// ErrRefused means that olmgate will not call the address it was given, or not follow where it leads.
	ErrRefused = errors.New("refused")
	// ErrNoURL means that the ClusterCatalog's status names no address for its content.
	ErrNoURL = errors.New("its status has no urls.base yet: catalogd has not unpacked it")
	// ErrCA means that the CA bundle cannot be used.
	ErrCA = errors.New("no usable CA bundle")
)

// StatusError is an answer of catalogd, or of the API server in front of it, that is not 200.
type StatusError struct {
	// Code is the HTTP status.
	Code int
	// Detail is the first line of the answer's body, shortened; often "".
	Detail string
	// Hint says what to check.
	Hint string
}

func (e *StatusError) Error() string {
	s := fmt.Sprintf("the answer was %d %s", e.Code, http.StatusText(e.Code))
	if e.Detail != "" {
		s += fmt.Sprintf(" (%s)", e.Detail)
	}
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// FetchError says which address was tried for which catalog. Use errors.Is and errors.As for the reason.
type FetchError struct {
	// Catalog is the ClusterCatalog's name.
	Catalog string
	// Way is how olmgate reaches catalogd, for example "through the API server's service proxy".
	Way string
	// URL is the address without secrets, "" when none was reached.
	URL string
	// Err is the reason.
	Err error
}

func (e *FetchError) Error() string {
	if e.URL == "" {
		return fmt.Sprintf("getting content of catalog %q %s: %v", e.Catalog, e.Way, e.Err)
	}
	return fmt.Sprintf("getting content of catalog %q %s (%s): %v", e.Catalog, e.Way, e.URL, e.Err)
}

func (e *FetchError) Unwrap() error { return e.Err }
