package source

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
)

// explain adds what to check to an error that alone does not say it.
func (h *HTTP) explain(err error) error {
	hint := h.hint(err)
	if hint == "" {
		return err
	}
	var status *StatusError
	if errors.As(err, &status) && status.Hint == "" {
		status.Hint = hint
		return err
	}
	return fmt.Errorf("%w: %s", err, hint)
}

func hintInside(err error) string {
	var (
		status *StatusError
		cert   *tls.CertificateVerificationError
		dns    *net.DNSError
	)
	switch {
	case errors.As(err, &status):
		return hintStatus(status.Code)
	case errors.As(err, &cert):
		return "check that olmgate's CA bundle has the CA that signed catalogd's serving certificate"
	case errors.As(err, &dns):
		return "the names of Services resolve inside the cluster only"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "catalogd is not running, or it is restarting"
	case errors.Is(err, syscall.ETIMEDOUT), isTimeout(err):
		return "check that a NetworkPolicy lets olmgate reach catalogd"
	}
	return ""
}

func hintStatus(code int) string {
	switch code {
	case http.StatusNotFound:
		return "catalogd does not have it at the moment, as while it restarts or when the replica that answered is not the leader"
	case http.StatusUnauthorized, http.StatusForbidden:
		return "catalogd asks for no permission, so something else answers there"
	}
	return ""
}

func isTimeout(err error) bool {
	var op net.Error
	return errors.As(err, &op) && op.Timeout()
}
