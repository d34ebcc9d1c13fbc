package source

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// maxDetail bounds what an error repeats of an answer.
const maxDetail = 200

// statusError makes an error of an answer that is not 200.
func statusError(resp *http.Response, watch *watchdog) error {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return fmt.Errorf("%w: the answer was %d, a redirect%s, and olmgate follows none: something else than catalogd answers there",
			ErrRefused, resp.StatusCode, redirectTarget(resp))
	}
	text, _ := io.ReadAll(io.LimitReader(watched{resp.Body, watch}, 4096))
	return &StatusError{Code: resp.StatusCode, Detail: detail(text, resp.StatusCode)}
}

func redirectTarget(resp *http.Response) string {
	to, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || to.Host == "" {
		return ""
	}
	return fmt.Sprintf(" to the host %.100q", to.Host)
}

// detail is what an answer says in its body: the message of a Kubernetes Status, or the first line of a text.
func detail(text []byte, code int) string {
	var status struct{ Kind, Message string }
	if json.Unmarshal(text, &status) == nil && status.Kind == "Status" {
		return shorten(status.Message)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if strings.HasPrefix(line, "<") || strings.EqualFold(line, fmt.Sprintf("%d %s", code, http.StatusText(code))) {
		return ""
	}
	return shorten(line)
}

func shorten(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if r := []rune(s); len(r) > maxDetail {
		return string(r[:maxDetail]) + "..."
	}
	return s
}
