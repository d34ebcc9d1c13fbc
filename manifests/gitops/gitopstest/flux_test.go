package gitopstest

import (
	"context"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling/engine"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What Flux calls the states of a resource.
const (
	waits = status.InProgressStatus
	fails = status.FailedStatus
	ready = status.CurrentStatus
	// errs is what an expression that cannot be evaluated gives: Flux waits then too, until its timeout.
	errs = status.UnknownStatus
)

// fluxReader is Flux' own reader of health, with the expressions of one kind.
func fluxReader(t *testing.T, check kustomize.CustomHealthCheck) engine.StatusReader {
	t.Helper()
	reader, err := cel.NewStatusReader([]kustomize.CustomHealthCheck{check})
	if err != nil {
		t.Fatal(err)
	}
	return reader(meta.NewDefaultRESTMapper(nil))
}

func runFlux(t *testing.T, reader engine.StatusReader, object map[string]any) status.Status {
	t.Helper()
	got, err := reader.ReadStatusForObject(context.Background(), nil, &unstructured.Unstructured{Object: object})
	if err != nil {
		t.Fatal(err)
	}
	return got.Status
}

// kustomization is an example of the folder flux, decoded into Flux' own type.
func kustomization(t *testing.T, file string) kustomizev1.Kustomization {
	t.Helper()
	var k kustomizev1.Kustomization
	readYAML(t, fluxDir+"/"+file, &k)
	return k
}
