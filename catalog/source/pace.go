package source

import (
	"errors"
	"io"
	"net/http"
	"syscall"

	"github.com/olmgate/olmgate/catalog"
)

// Pace is how soon another try of a failed fetch makes sense.
type Pace int

const (
	// PaceNormal is for what a network or a server may get over.
	PaceNormal Pace = iota
	// PaceFast is for what passes within seconds: catalogd restarts, or another replica of it became the leader.
	PaceFast
	// PaceSlow is for what somebody has to repair: content that is empty or broken, an address that is refused, a
	// missing permission. Only a long-running process tries again at all.
	PaceSlow
)

func (p Pace) String() string {
	switch p {
	case PaceFast:
		return "fast"
	case PaceSlow:
		return "slow"
	}
	return "normal"
}

// PaceOf says how soon to try again after err.
func PaceOf(err error) Pace {
	var status *StatusError
	if errors.As(err, &status) {
		switch {
		case status.Code == http.StatusNotFound, status.Code == http.StatusBadGateway,
			status.Code == http.StatusServiceUnavailable, status.Code == http.StatusGatewayTimeout:
			return PaceFast
		case status.Code >= 500, status.Code == http.StatusTooManyRequests, status.Code == http.StatusRequestTimeout:
			return PaceNormal
		}
		return PaceSlow
	}
	switch {
	case errors.Is(err, ErrStalled), errors.Is(err, ErrDeadline), errors.Is(err, ErrCA), errors.Is(err, ErrNoURL):
		return PaceNormal
	case errors.Is(err, ErrTruncated), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, io.EOF):
		return PaceFast
	case errors.Is(err, ErrEmpty), errors.Is(err, ErrRefused), errors.Is(err, catalog.ErrLimit):
		return PaceSlow
	}
	var broken *catalog.Error
	if errors.As(err, &broken) {
		return PaceSlow
	}
	return PaceNormal
}
