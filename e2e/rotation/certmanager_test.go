package rotation

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/olmgate/olmgate/e2e/gate"
)

// TestCertManager has cert-manager's controllers renew the certificate, and then change the CA.
func TestCertManager(t *testing.T) {
	w := newWorld(t)
	if _, err := w.StartCertManager(w.ctx()); err != nil {
		t.Fatal(err)
	}
	w.start("enforce-cert-manager", "  source: CertManager\n")

	w.during("the certificate is renewed", func() {
		w.rotated("same", func() { w.renew("olmgate-webhook", "olmgate-webhook-tls") })
	})
	w.during("the CA is replaced", func() {
		w.rotated("other", func() {
			w.renew("olmgate-ca", "olmgate-ca-key")
			// The issuer may not have heard of its new CA yet.
			for range 5 {
				w.renew("olmgate-webhook", "olmgate-webhook-tls")
				if w.secret("olmgate-webhook-tls", `ca\.crt`) == w.secret("olmgate-ca-key", `tls\.crt`) {
					return
				}
			}
			t.Error("the issuer does not sign with the new CA")
		})
	})
	w.during("the Secret is deleted", func() {
		w.rotated("same", func() { w.kubectl("-n", gate.Namespace, "delete", "secret", "olmgate-webhook-tls") })
	})
}

// secret is the value of a key, in base64.
func (w *world) secret(name, key string) string {
	w.Helper()
	return w.kubectl("-n", gate.Namespace, "get", "secret", name, "-o", "jsonpath={.data."+key+"}")
}

// renew asks cert-manager for a certificate before its time, and waits until it is in the Secret.
func (w *world) renew(certificate, secret string) {
	w.Helper()
	content := func(ctx context.Context) (string, error) {
		out, _, err := w.Cluster.Kubectl(ctx, nil, "-n", gate.Namespace, "get", "secret", secret, "-o", `jsonpath={.data.tls\.crt}`)
		return out, err
	}
	before, err := content(w.ctx())
	if err != nil {
		w.Fatal(err)
	}
	w.kubectl("-n", gate.Namespace, "patch", "certificate", certificate, "--subresource=status", "--type=json", `--patch=[{"op":"add","path":"/status/conditions/-","value":`+
		`{"type":"Issuing","status":"True","reason":"ManuallyTriggered","message":"asked for by a test","lastTransitionTime":"`+time.Now().UTC().Format(time.RFC3339)+`"}}]`)
	w.eventually(func(ctx context.Context) error {
		now, err := content(ctx)
		if err == nil && now == before {
			err = errors.New("cert-manager has not issued " + certificate + " again")
		}
		return err
	})
}
