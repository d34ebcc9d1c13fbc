package cluster

import (
	"context"
	"path/filepath"
)

func (c *Cluster) startEtcd(ctx context.Context) error {
	_, err := c.StartProcess(ctx, ProcessSpec{
		Name: "etcd",
		Path: c.tool("etcd"),
		Args: []string{
			"--name=sandbox",
			"--data-dir=" + filepath.Join(c.Dir, "etcd"),
			"--listen-client-urls=" + etcdClientURL,
			"--advertise-client-urls=" + etcdClientURL,
			"--listen-peer-urls=" + etcdPeerURL,
			"--initial-advertise-peer-urls=" + etcdPeerURL,
			"--initial-cluster=sandbox=" + etcdPeerURL,
			"--unsafe-no-fsync", // the data never outlives the cluster
		},
		Ready: URLReady(nil, etcdClientURL+"/readyz"),
	})
	return err
}

// tool returns the path of one of the built programs.
func (c *Cluster) tool(name string) string { return filepath.Join(c.options.ToolsDir, name) }
