package source

import (
	"context"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
)

// Fetcher brings the content of one ClusterCatalog. It tries once; whoever asks decides by PaceOf about another try.
//
// An implementation must end soon after ctx does, must not change cc, and must report content that was cut short as an
// error. It may be called by many goroutines at a time.
type Fetcher interface {
	Fetch(ctx context.Context, cc *ocv1.ClusterCatalog) (*catalog.Index, error)
}
