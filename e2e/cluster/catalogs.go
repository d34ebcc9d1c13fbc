package cluster

import (
	"context"
	"fmt"
	"time"
)

const (
	// Serving needs a pull, and the pull is retried with a growing delay.
	servingTimeout = 60 * time.Second
	contentTimeout = 60 * time.Second
)

// ApplyCatalog creates or changes a ClusterCatalog that serves an image.
func (c *Cluster) ApplyCatalog(ctx context.Context, name, ref string, priority int32, labels map[string]string) error {
	metadata := map[string]any{"name": name}
	if len(labels) > 0 { // a null here breaks the match conditions of catalogd's webhook
		metadata["labels"] = labels
	}
	err := c.Apply(ctx, map[string]any{
		"apiVersion": "olm.operatorframework.io/v1",
		"kind":       "ClusterCatalog",
		"metadata":   metadata,
		"spec": map[string]any{
			"priority": priority,
			"source":   map[string]any{"type": "Image", "image": map[string]any{"ref": ref}},
		},
	})
	if err != nil {
		return fmt.Errorf("applying ClusterCatalog %s: %w", name, err)
	}
	return nil
}

// AddCatalog pushes content, creates the ClusterCatalog for it and waits until
// it is served.
func (c *Cluster) AddCatalog(ctx context.Context, name string, content []byte, priority int32, labels map[string]string) error {
	ref, err := c.PushCatalog(ctx, name, content)
	if err != nil {
		return err
	}
	if err := c.ApplyCatalog(ctx, name, ref, priority, labels); err != nil {
		return err
	}
	return c.WaitServing(ctx, name)
}

// WaitServing waits until catalogs have the condition Serving for their current
// generation.
func (c *Cluster) WaitServing(ctx context.Context, names ...string) error {
	args := append([]string{"wait", "--for=condition=Serving", "--timeout=" + servingTimeout.String(), "clustercatalog"}, names...)
	if _, _, err := c.Kubectl(ctx, nil, args...); err != nil {
		return fmt.Errorf("waiting for catalogs to be served: %w", err)
	}
	return nil
}

// CatalogURL is where a catalog's content is served, by catalogd's own name.
func CatalogURL(name string) string {
	return "https://" + CatalogdHost + "/catalogs/" + name + "/api/v1/all"
}

// WaitContent waits until a catalog can really be downloaded, and returns it:
// the condition Serving outlives a catalogd that is down or restarting.
func (c *Cluster) WaitContent(ctx context.Context, name string) ([]byte, error) {
	client, err := c.CatalogClient()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, contentTimeout)
	defer cancel()
	var content []byte
	err = Poll(ctx, func(ctx context.Context) error {
		content, err = get(ctx, client, CatalogURL(name))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("downloading catalog %s: %w", name, err)
	}
	return content, nil
}
