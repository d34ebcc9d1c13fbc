package e2e_test

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

const olmAPI = "olm.operatorframework.io/v1"

// resources of OLM by kind.
var resources = map[string]schema.GroupVersionResource{
	"ClusterExtension": {Group: "olm.operatorframework.io", Version: "v1", Resource: "clusterextensions"},
	"ClusterCatalog":   {Group: "olm.operatorframework.io", Version: "v1", Resource: "clustercatalogs"},
}

// caller calls the API server as kubectl does, without starting a process for each call.
type caller struct {
	client dynamic.Interface

	mu       sync.Mutex
	warnings []string
}

func (w *world) caller() *caller {
	w.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.KubeconfigPath)
	if err != nil {
		w.Fatal(err)
	}
	c := &caller{}
	config.QPS, config.WarningHandler = -1, c
	if c.client, err = dynamic.NewForConfig(config); err != nil {
		w.Fatal(err)
	}
	return c
}

// HandleWarningHeader implements rest.WarningHandler.
func (c *caller) HandleWarningHeader(_ int, _, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.warnings = append(c.warnings, text)
}

// warned returns the warnings since it was called last.
func (c *caller) warned() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.warnings
	c.warnings = nil
	return list
}

func (c *caller) of(o object) dynamic.ResourceInterface {
	return c.client.Resource(resources[o.GetKind()])
}

func (c *caller) create(ctx context.Context, o object) (object, error) {
	return c.of(o).Create(ctx, o, metav1.CreateOptions{})
}

// try creates an object without storing it.
func (c *caller) try(ctx context.Context, o object) error {
	_, err := c.of(o).Create(ctx, o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

func (c *caller) delete(ctx context.Context, kind, name string) error {
	return c.client.Resource(resources[kind]).Delete(ctx, name, metav1.DeleteOptions{})
}

func (c *caller) patch(ctx context.Context, kind, name, body string, subresources ...string) error {
	_, err := c.client.Resource(resources[kind]).Patch(ctx, name, types.MergePatchType, []byte(body), metav1.PatchOptions{}, subresources...)
	return err
}

// extensionObject is an extension that asks for a package.
func extensionObject(name, pkg string) object {
	return newObject("ClusterExtension", name, map[string]any{
		"namespace": "default",
		"source":    map[string]any{"sourceType": "Catalog", "catalog": map[string]any{"packageName": pkg}},
	})
}

// catalogObject is a catalog of an image.
func catalogObject(name, ref string) object {
	return newObject("ClusterCatalog", name, map[string]any{
		"source": map[string]any{"type": "Image", "image": map[string]any{"ref": ref}},
	})
}

// object is what a caller sends and gets.
type object = *unstructured.Unstructured

func newObject(kind, name string, spec map[string]any) object {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": olmAPI, "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}
