package config

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Names are those that the rest of olmgate knows. This package depends on nothing else of olmgate, so they are given.
type Names struct {
	// Rules of selection.
	Rules []string
	// Failures are the reasons of failed verdicts.
	Failures []string
	// Notes are the reasons of notes.
	Notes []string
}

// Validate reports all values that make no sense, as Errors.
func (c *OlmgateConfiguration) Validate(known Names) error {
	var errs Errors
	oneOf(&errs, "rule", c.Rule, known.Rules...)
	oneOf(&errs, "mode", c.Mode, ModeEnforce, ModeWarn)
	reasons(&errs, "policy.reasons", c.Policy.Reasons, known.Failures, ActionDeny, ActionWarn, ActionIgnore)
	oneOf(&errs, "policy.undecided", c.Policy.Undecided, ActionWarn, ActionIgnore)
	reasons(&errs, "policy.notes", c.Policy.Notes, known.Notes, ActionWarn, ActionIgnore)
	notBlank(&errs, "exempt.users", c.Exempt.Users)
	notBlank(&errs, "exempt.groups", c.Exempt.Groups)
	address(&errs, "webhook.bindAddress", c.Webhook.BindAddress)
	oneOf(&errs, "webhook.minTLSVersion", c.Webhook.MinTLSVersion, "1.3", "1.2")
	notBlank(&errs, "webhook.clientCA.allowedNames", c.Webhook.ClientCA.AllowedNames)
	c.clientCA(&errs)
	c.certificates(&errs)
	hosts(&errs, "catalogd.allowedHosts", c.Catalogd.AllowedHosts)
	baseURL(&errs, "catalogd.url", c.Catalogd.URL)
	size(&errs, "limits.blob", c.Limits.Blob)
	size(&errs, "limits.catalog", c.Limits.Catalog)
	size(&errs, "limits.index", c.Limits.Index)
	positive(&errs, "limits.blobs", c.Limits.Blobs)
	positive(&errs, "limits.files", c.Limits.Files)
	optionalAddress(&errs, "metrics.bindAddress", c.Metrics.BindAddress)
	optionalAddress(&errs, "health.bindAddress", c.Health.BindAddress)
	oneOf(&errs, "statusWriter.conditions", c.StatusWriter.Conditions, ConditionsOwn, ConditionsFull)
	if r := c.StatusWriter.WritesPerSecond; !(r >= 0.1 && r <= 1000) { // not a number is neither
		errs.add("statusWriter.writesPerSecond", fmt.Sprintf("is %g, must be from 0.1 to 1000", r))
	}
	return errs.err()
}

func oneOf(errs *Errors, path, value string, known ...string) {
	if !slices.Contains(known, value) {
		errs.add(path, fmt.Sprintf("is %q, must be %s", value, strings.Join(known, " or ")))
	}
}

func reasons(errs *Errors, path string, values map[string]string, known []string, actions ...string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := path + "." + name
		if !slices.Contains(known, name) {
			errs.add(at, "unknown reason"+didYouMean(name, known))
			continue
		}
		oneOf(errs, at, values[name], actions...)
	}
}

func notBlank(errs *Errors, path string, values []string) {
	for i, v := range values {
		if strings.TrimSpace(v) == "" {
			errs.add(fmt.Sprintf("%s[%d]", path, i), "is blank: remove it")
		}
	}
}

func address(errs *Errors, path, value string) {
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		errs.add(path, fmt.Sprintf("is %q, must be host:port such as :9443", value))
	}
}

func optionalAddress(errs *Errors, path, value string) {
	if value != "0" {
		address(errs, path, value)
	}
}

func hosts(errs *Errors, path string, values []string) {
	for i, v := range values {
		if u, err := url.Parse("https://" + v); err != nil || v == "" || u.Host != v {
			errs.add(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("is %q, must be a host name, with a port or without", v))
		}
	}
}

func baseURL(errs *Errors, path, value string) {
	if value == "" {
		return
	}
	if u, err := url.Parse(value); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		errs.add(path, fmt.Sprintf("is %q, must be a URL such as https://localhost:8443", value))
	}
}

func size(errs *Errors, path string, value Size) {
	if _, err := value.Bytes(); err != nil {
		errs.add(path, err.Error())
	}
}

func positive(errs *Errors, path string, value int) {
	if value < 1 {
		errs.add(path, fmt.Sprintf("is %d, must be at least 1", value))
	}
}
