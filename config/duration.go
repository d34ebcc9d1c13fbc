package config

import (
	"fmt"
	"time"
)

// Duration is a length of time such as 30s, 5m or 720h.
type Duration string

// Duration is the length of time, which is positive.
func (d Duration) Duration() (time.Duration, error) {
	v, err := time.ParseDuration(string(d))
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration such as 30s, 5m or 720h", string(d))
	}
	if v <= 0 {
		return 0, fmt.Errorf("%q is not a positive duration", string(d))
	}
	return v, nil
}
