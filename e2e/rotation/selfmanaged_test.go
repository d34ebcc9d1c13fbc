package rotation

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/olmgate/olmgate/e2e/gate"
)

const authoritySecret = "olmgate-ca"

// TestSelfManaged takes olmgate's own certificates through everything that can happen to them.
func TestSelfManaged(t *testing.T) {
	w := newWorld(t)
	// A leaf lives 18 s and is replaced after 12.
	w.start("enforce", "  selfManaged: {servingLifetime: 18s, authorityLifetime: 1h}\n")
	secret := func(path string) string {
		t.Helper()
		return w.kubectl("-n", gate.Namespace, "get", "secret", authoritySecret, "-o", "jsonpath={"+path+"}")
	}
	authority := func() string { t.Helper(); return secret(`.data.tls\.crt`) }

	w.during("a leaf is replaced", func() { w.rotated("same", func() {}) })

	before := authority()
	w.during("the authority is replaced", func() {
		w.rotated("other", func() {
			w.kubectl("-n", gate.Namespace, "annotate", "secret", authoritySecret, "olmgate.dev/rotate=now")
		})
		w.eventually(func(ctx context.Context) error {
			n, err := w.authorities(ctx)
			if err == nil && n != 1 {
				err = fmt.Errorf("caBundle holds %d authorities: the old one leaves after the last leaf it signed", n)
			}
			return err
		})
	})
	if authority() == before {
		t.Error("the authority is still the same")
	}

	before = authority()
	w.during("the Secret is deleted", func() {
		w.kubectl("-n", gate.Namespace, "delete", "secret", authoritySecret)
		w.eventually(func(ctx context.Context) error {
			out, _, err := w.Cluster.Kubectl(ctx, nil, "-n", gate.Namespace, "get", "secret", authoritySecret, "-o", `jsonpath={.data.tls\.crt}`)
			if err == nil && out != before {
				err = errors.New("it has not been put back as it was")
			}
			return err
		})
		w.rotated("same", func() {})
	})

	w.during("the Secret is damaged", func() {
		w.kubectl("-n", gate.Namespace, "patch", "secret", authoritySecret, "--type=merge", `--patch={"data":{"tls.crt":"cnViYmlzaA==","tls.key":""}}`)
		w.eventually(func(context.Context) error {
			if authority() != before {
				return errors.New("it has not been put back as it was")
			}
			return nil
		})
		w.rotated("same", func() {})
	})

	// While caBundle is empty requests fail, by failurePolicy; what counts is that it heals at once, and holds.
	w.kubectl("patch", "validatingwebhookconfiguration", gate.Configuration, "--type=json", `--patch=[{"op":"replace","path":"/webhooks/0/clientConfig/caBundle","value":""}]`)
	w.eventually(func(ctx context.Context) error {
		n, err := w.authorities(ctx)
		if err == nil && n == 0 {
			err = errors.New("caBundle has not been written again")
		}
		return err
	})
	w.answering()
	w.during("caBundle was wiped and has healed", func() { w.rotated("same", func() {}) })
}

// answering waits until the API server has learned of the webhook configuration as it is.
func (w *world) answering() {
	w.Helper()
	if err := w.replicas[0].WaitAnswering(w.ctx()); err != nil {
		w.Fatal(err)
	}
}
