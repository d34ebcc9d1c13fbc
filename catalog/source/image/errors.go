package image

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

var (
	// ErrNotCached means that an image, or a part of it, is not in the cache and the network must not be used.
	ErrNotCached = errors.New("it is not in the cache")
	// ErrDigest means that something is not what its digest says.
	ErrDigest = errors.New("the digest does not match")
	// ErrLimit means that one of the Limits was exceeded.
	ErrLimit = errors.New("limit exceeded")
	// ErrRefused means that olmgate will not do what a registry or an image asks for.
	ErrRefused = errors.New("refused")
	// ErrStalled means that no byte arrived for Options.Stall.
	ErrStalled = errors.New("the registry stalled")
	// ErrDeadline means that Options.Total has passed.
	ErrDeadline = errors.New("it took too long")
	// ErrNoCatalog means that the image holds no File-Based Catalog where its label says.
	ErrNoCatalog = errors.New("it is no catalog image")
)

// served is the error for something that is not what was asked for.
func served(digest string) error {
	return fmt.Errorf("%w: the registry, or something on the way to it, served something else as %s: try a mirror (--registry-mirror), or ask who runs the registry", ErrDigest, digest)
}

// mismatch reports whether an error of the registry library is about a digest; it has no type for that.
func mismatch(err error) bool {
	text := err.Error()
	return strings.Contains(text, "does not match requested digest") || strings.Contains(text, "error verifying sha256 checksum")
}

// Error says which image could not be read. Use errors.Is and errors.As for the reason.
type Error struct {
	// Image is the reference as it was given.
	Image string
	// Err is the reason, with what to do.
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("image %s: %v", e.Image, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// flat is an error of a registry, which may repeat a long answer, on one line.
type flat struct{ error }

func (f flat) Error() string {
	const most = 600
	text := strings.Join(strings.Fields(strings.ToValidUTF8(f.error.Error(), "?")), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

func (f flat) Unwrap() error { return f.error }

// explain adds what to do to an error of a registry.
func explain(registry string, err error) error {
	err = flat{err}
	if hint := hintOf(registry, err); hint != "" {
		return fmt.Errorf("%w: %s", err, hint)
	}
	return err
}

func hintOf(registry string, err error) string {
	var (
		answer *transport.Error
		cert   *tls.CertificateVerificationError
		dns    *net.DNSError
		op     net.Error
	)
	switch {
	case errors.As(err, &cert):
		return "add the CA of the registry to those of the system, or name its PEM file in SSL_CERT_FILE"
	case errors.As(err, &answer):
		switch answer.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden:
			return fmt.Sprintf("log in by podman login %s or docker login %s, or name a file with credentials in REGISTRY_AUTH_FILE", registry, registry)
		case http.StatusNotFound:
			return "check the name and the tag or digest"
		case http.StatusTooManyRequests:
			return "try again later, or use a mirror (--registry-mirror)"
		}
		return "the registry has a problem: try again, or use a mirror (--registry-mirror)"
	case errors.Is(err, ErrStalled), errors.Is(err, ErrDeadline):
		return "try again, or use a mirror (--registry-mirror)"
	case errors.Is(err, context.Canceled), errors.Is(err, ErrRefused), errors.Is(err, ErrLimit), errors.Is(err, ErrDigest):
		return ""
	case errors.As(err, &dns):
		return "check the name of the registry; without a network use --offline with a filled cache, or a snapshot"
	case errors.Is(err, syscall.ECONNREFUSED), errors.As(err, &op) && op.Timeout():
		return "check that the registry can be reached from here, or use a mirror (--registry-mirror)"
	}
	return ""
}
