package cluster

import (
	"fmt"
	"os"
	"path/filepath"
)

// auditPolicy keeps what requests about ClusterExtensions leave behind, annotations of webhooks included.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    resources:
      - group: olm.operatorframework.io
        resources: [clusterextensions]
  - level: None
`

// AuditLog is where kube-apiserver writes an audit event, as a line of JSON, for each request about ClusterExtensions.
func (c *Cluster) AuditLog() string { return filepath.Join(c.Dir, "logs", "audit.log") }

// auditFlags write the policy and return the flags that make kube-apiserver follow it.
func (c *Cluster) auditFlags() ([]string, error) {
	policy := filepath.Join(c.Dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o644); err != nil {
		return nil, fmt.Errorf("writing the audit policy: %w", err)
	}
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + c.AuditLog()}, nil
}
