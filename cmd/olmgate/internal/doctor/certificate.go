package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/olmgate/olmgate/config"
)

// certificate looks at what each Pod behind the Service serves, with the API server's eyes.
func (d *doctor) certificate(ctx context.Context) error {
	if d.hook == nil || len(d.endpoints) == 0 {
		d.skip("no webhook to call was seen")
		return nil
	}
	var reason error
	seen := 0
	for _, e := range d.endpoints {
		look := d.reported
		if d.InCluster { // from elsewhere the address may lead to anything
			look = d.shake
		}
		if reason = look(ctx, e); reason == nil {
			seen++
			continue
		}
		if d.InCluster {
			d.warn("see whether that Pod listens, and whether a NetworkPolicy or a firewall lets port 9443 through", "%s is ready and cannot be called: %v", e.address, reason)
		}
	}
	if seen == 0 && !d.InCluster {
		d.skip("the Pods cannot be called from here (%v); the Job in manifests/components/doctor does it from inside", reason)
	}
	return nil
}

// shake does what the API server does before each review.
func (d *doctor) shake(ctx context.Context, e endpoint) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", e.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	host := service + "." + d.Namespace + ".svc"
	shake := tls.Client(conn, &tls.Config{ServerName: host, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}) //nolint:gosec // verified below, to say more than one error
	if err := shake.HandshakeContext(ctx); err != nil {
		d.fault(fmt.Sprintf("kubectl -n %s logs deployment/%s", d.Namespace, deployment), "%s does not complete a TLS handshake: %v", e.address, err)
		return nil
	}
	chain := shake.ConnectionState().PeerCertificates
	leaf := chain[0]
	roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
	roots.AppendCertsFromPEM(d.hook.ClientConfig.CABundle)
	for _, c := range chain[1:] {
		intermediates.AddCert(c)
	}
	now := d.now()
	left := leaf.NotAfter.Sub(now)
	if _, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: intermediates, CurrentTime: now}); err != nil {
		d.fault("the caBundle and the certificate belong to different authorities, or the certificate is for another name or time: "+certificateNext,
			"the API server does not trust the certificate that %s serves: %v", e.address, err)
		return nil
	}
	text := fmt.Sprintf("%s serves a certificate that the API server trusts, valid for %s (until %s)", e.address, span(left), leaf.NotAfter.UTC().Format(time.RFC3339))
	if left < d.nearEnd(ctx, leaf) {
		d.warn("it should have been renewed by now: "+certificateNext, "%s", text)
		return nil
	}
	d.ok("%s", text)
	return nil
}

// nearEnd is what is left of a certificate that should have been renewed. One of olmgate's own begins with its authority,
// so that its life is the configured one.
func (d *doctor) nearEnd(ctx context.Context, leaf *x509.Certificate) time.Duration {
	life := leaf.NotAfter.Sub(leaf.NotBefore)
	if settings, err := d.settings(ctx); err == nil && settings.Certificates.Source == config.SourceSelfManaged {
		if own, err := settings.Certificates.SelfManaged.ServingLifetime.Duration(); err == nil {
			life = own
		}
	}
	return life / 10
}

// span is a duration as people say it.
func span(t time.Duration) string {
	switch days := int(t.Hours() / 24); {
	case days >= 2:
		return count(days, "day")
	case t >= 2*time.Hour:
		return count(int(t.Hours()), "hour")
	default:
		return count(int(t.Minutes()), "minute")
	}
}

// Metrics of olmgate about the certificate that it serves.
const (
	notAfterMetric = "olmgate_certificate_not_after_timestamp_seconds"
	trustedMetric  = "olmgate_certificate_trusted"
)

// reported is what a Pod says of its own certificate, for a process that cannot call it.
func (d *doctor) reported(ctx context.Context, e endpoint) error {
	i := slices.IndexFunc(d.pods, func(p corev1.Pod) bool { return p.Name == e.pod })
	if i < 0 {
		return fmt.Errorf("%s is no Pod of the Deployment", e.address)
	}
	p := &d.pods[i]
	metrics, err := d.metrics(ctx, p)
	if err != nil {
		return err
	}
	seconds, known := value(metrics[notAfterMetric])
	if !known {
		return fmt.Errorf("no metric %s of Pod %s", notAfterMetric, p.Name)
	}
	notAfter := time.Unix(int64(seconds), 0)
	left := notAfter.Sub(d.now())
	text := fmt.Sprintf("Pod %s says that its certificate is valid for %s (until %s)", p.Name, span(left), notAfter.UTC().Format(time.RFC3339))
	switch trusted, known := value(metrics[trustedMetric]); {
	case left <= 0:
		d.fault(certificateNext, "the certificate of Pod %s expired at %s", p.Name, notAfter.UTC().Format(time.RFC3339))
	case known && trusted == 0:
		d.fault(certificateNext, "%s, and that the API server's caBundle does not trust it", text)
	default:
		d.ok("%s", text)
	}
	return nil
}

const certificateNext = "see the log of olmgate, and of whoever makes the certificate"
