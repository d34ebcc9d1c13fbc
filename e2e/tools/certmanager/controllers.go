package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"

	// Controllers and issuers make themselves known when they are imported.
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
)

const (
	// workers is how many objects each controller handles at the same time.
	workers = 2
	// A request that failed is made again after an hour and later each time, as in
	// the released program.
	minimumBackoff = time.Hour
	maximumBackoff = 32 * time.Hour
	// Requests a second that the controllers may make together.
	qps, burst = 50, 100
)

// runControllers issues certificates until the context ends.
func runControllers(ctx context.Context, kubeconfig, namespace string) error {
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig:         kubeconfig,
		KubernetesAPIQPS:   qps,
		KubernetesAPIBurst: burst,
		IssuerOptions:      controller.IssuerOptions{ClusterResourceNamespace: namespace},
		CertificateOptions: controller.CertificateOptions{
			CertificateRequestMinimumBackoffDuration: minimumBackoff,
			CertificateRequestMaximumBackoffDuration: maximumBackoff,
		},
	})
	if err != nil {
		return fmt.Errorf("setting the controllers up: %w", err)
	}
	known := controller.Known()
	ended := make(chan error, len(known))
	for name, construct := range known {
		c, err := construct(factory)
		if err != nil {
			return fmt.Errorf("setting controller %s up: %w", name, err)
		}
		log.Print("starting controller ", name)
		go func() {
			if err := c.Run(workers, ctx); err != nil {
				ended <- fmt.Errorf("running controller %s: %w", name, err)
				return
			}
			ended <- nil
		}()
	}
	shared, err := factory.Build()
	if err != nil {
		return fmt.Errorf("setting the controllers' informers up: %w", err)
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	shared.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	for range known {
		if err := <-ended; err != nil {
			return err
		}
	}
	return nil
}
