package config

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Size is a number of bytes as Kubernetes writes quantities: 16Mi, 2Gi, 1000000.
type Size string

// Bytes is the size as a number, at least 1.
func (s Size) Bytes() (int64, error) {
	q, err := resource.ParseQuantity(string(s))
	if err != nil {
		return 0, fmt.Errorf("%q is not a quantity such as 16Mi: %w", string(s), err)
	}
	n, ok := q.AsInt64()
	if !ok || n < 1 {
		return 0, fmt.Errorf("%q is not a positive whole number of bytes", string(s))
	}
	return n, nil
}
