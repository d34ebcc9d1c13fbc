package load

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Case is a request with the right answer.
type Case struct {
	// Object is the ClusterExtension to create.
	Object *unstructured.Unstructured
	// Denied is the reason of the denial, as in the status that the API server
	// answers; empty: the object is allowed.
	Denied string
}

// Options describe the load.
type Options struct {
	// Cases are sent in turn. At least one.
	Cases []Case
	// Rate is how many requests are sent each second; 50 when zero.
	Rate int
	// Workers is how many requests are under way at most; 16 when zero. While all
	// are busy nothing is sent, so that a slow server is not counted as a failing one.
	Workers int
	// Timeout of one request, after which it has failed; 15 seconds when zero.
	Timeout time.Duration
}

const (
	defaultRate    = 50
	defaultWorkers = 16
	defaultTimeout = 15 * time.Second
)

func (o *Options) setDefaults() error {
	if len(o.Cases) == 0 {
		return errors.New("a load needs at least one case")
	}
	if o.Rate < 0 || o.Workers < 0 || o.Timeout < 0 {
		return errors.New("rate, workers and timeout of a load cannot be negative")
	}
	if o.Rate == 0 {
		o.Rate = defaultRate
	}
	if o.Workers == 0 {
		o.Workers = defaultWorkers
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	return nil
}

// Extension is a ClusterExtension that asks for a package and nothing else.
func Extension(name, pkg string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": extensions.Group + "/" + extensions.Version,
		"kind":       "ClusterExtension",
		"metadata":   map[string]any{"name": name},
		"spec": map[string]any{
			"namespace": "default",
			"source": map[string]any{
				"sourceType": "Catalog",
				"catalog":    map[string]any{"packageName": pkg},
			},
		},
	}}
}
