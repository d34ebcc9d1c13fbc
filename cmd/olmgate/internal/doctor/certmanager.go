package doctor

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/cert-manager/cert-manager/pkg/client/clientset/versioned"

	"github.com/olmgate/olmgate/certs"
	"github.com/olmgate/olmgate/config"
)

// certManager says what keeps cert-manager's certificate from being there, where it is the one to make it.
func (d *doctor) certManager(ctx context.Context) error {
	settings, err := d.settings(ctx)
	if err != nil {
		d.skip("whether it is cert-manager that makes the certificate is not known: %v", err)
		return nil
	}
	if settings.Certificates.Source != config.SourceCertManager {
		return nil
	}
	issuing, err := versioned.NewForConfigAndClient(d.Config, d.http)
	if err != nil {
		return fmt.Errorf("setting up the connection to %s: %w", d.Config.Host, err)
	}
	findings, err := certs.NewCertManager(certs.CertManagerOptions{
		Cluster:     certs.Cluster{Client: d.client, Namespace: d.Namespace, Log: slog.New(slog.NewTextHandler(io.Discard, nil))},
		CertManager: issuing,
	}).Diagnose(ctx)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.Reason == certs.Unreadable {
			d.skip("%s %s", f.Object, f.Problem)
			continue
		}
		d.fault(f.Next, "%s %s", f.Object, f.Problem)
	}
	if len(findings) == 0 {
		d.ok("cert-manager has issued the certificate")
	}
	return nil
}
