package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/olmgate/olmgate/e2e/cluster"
)

const answerTimeout = 30 * time.Second

// probe has a selector that the CRD lets through and nobody can read: it is refused whatever catalogs there are.
const probe = `
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: olmgate-e2e-probe}
spec:
  namespace: default
  source:
    sourceType: Catalog
    catalog:
      packageName: olmgate-e2e-probe
      selector: {matchExpressions: [{key: probe, operator: Unreadable}]}
`

// WaitAnswering waits until the API server refuses a ClusterExtension on
// olmgate's word, or warns when it runs in mode Warn: until then its copy of the webhook's configuration may be old.
// Nothing is stored.
func (g *Gate) WaitAnswering(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	err := cluster.Poll(ctx, func(ctx context.Context) error {
		_, stderr, err := g.cluster.Kubectl(ctx, []byte(probe), "create", "--dry-run=server", "-f", "-")
		if strings.Contains(stderr, "olmgate: InvalidSelector: ") {
			return nil
		}
		if err == nil {
			return errors.New("a ClusterExtension that cannot be read was admitted: " + stderr)
		}
		if !strings.Contains(stderr, `"`+WebhookName+`" denied the request`) {
			return err
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("waiting for olmgate's answers: %w; its last words:\n%s", err, g.Process.Tail(10))
	}
	return nil
}
