package cluster_test

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/suite"
)

// soon bounds what a controller does.
const soon = 60 * time.Second

func TestMain(m *testing.M) { os.Exit(suite.Main(m)) }

// kubectl runs a command that must succeed and returns what it prints.
func kubectl(t *testing.T, c *cluster.Cluster, stdin string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	out, _, err := c.Kubectl(ctx, []byte(stdin), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// eventually polls until check returns nil.
func eventually(t *testing.T, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if err := cluster.Poll(ctx, check); err != nil {
		t.Fatal(err)
	}
}

const certificates = `
apiVersion: v1
kind: Namespace
metadata: {name: certificates}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: self, namespace: certificates}
spec: {selfSigned: {}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: hook, namespace: certificates}
spec:
  secretName: hook
  dnsNames: [hook.certificates.svc]
  issuerRef: {name: self}
  secretTemplate: {annotations: {cert-manager.io/allow-direct-injection: "true"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: hook
  annotations: {cert-manager.io/inject-ca-from-secret: certificates/hook}
webhooks:
  - name: hook.example.com
    clientConfig: {service: {name: hook, namespace: certificates}}
    rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [examples]}]
    admissionReviewVersions: [v1]
    sideEffects: None
    failurePolicy: Ignore
`

func TestCertManagerIssuesAndInjects(t *testing.T) {
	c := suite.Cluster(t)
	start := time.Now()
	certManager, err := c.StartCertManager(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer certManager.Kill()
	t.Logf("cert-manager is ready after %s", time.Since(start).Round(time.Millisecond))
	start = time.Now()
	kubectl(t, c, certificates, "apply", "--server-side", "-f", "-")
	kubectl(t, c, "", "wait", "--for=condition=Ready", "--timeout=45s", "--namespace=certificates", "issuer/self", "certificate/hook")
	want := kubectl(t, c, "", "get", "secret", "hook", "--namespace=certificates", "-o", `jsonpath={.data.ca\.crt}`)
	if pem, err := base64.StdEncoding.DecodeString(want); err != nil || !strings.Contains(string(pem), "BEGIN CERTIFICATE") {
		t.Fatalf("the Secret has no authority: %q", want)
	}
	eventually(t, func(ctx context.Context) error {
		got, _, err := c.Kubectl(ctx, nil, "get", "validatingwebhookconfiguration", "hook",
			"-o", "jsonpath={.webhooks[0].clientConfig.caBundle}")
		if err == nil && got != want {
			err = errors.New("caBundle is not the Secret's authority")
		}
		return err
	})
	t.Logf("certificate issued and authority injected after %s", time.Since(start).Round(time.Millisecond))
}

// What signs catalogd's certificate signs others too, as in a real installation.
func TestOLMsIssuerSignsWithCatalogdsAuthority(t *testing.T) {
	c := suite.Cluster(t)
	certManager, err := c.StartCertManager(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer certManager.Kill()
	kubectl(t, c, `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: olm, namespace: default}
spec:
  secretName: olm
  dnsNames: [example.default.svc]
  issuerRef: {kind: ClusterIssuer, name: `+cluster.OLMIssuer+`}
`, "apply", "--server-side", "-f", "-")
	kubectl(t, c, "", "wait", "--for=condition=Ready", "--timeout=45s", "--namespace=default", "certificate/olm")
	ca := kubectl(t, c, "", "get", "secret", "olm", "--namespace=default", "-o", `jsonpath={.data.ca\.crt}`)
	if ca != base64.StdEncoding.EncodeToString(c.CatalogdCA.PEM) {
		t.Error("the Secret's authority is not catalogd's")
	}
}

const deployment = `
apiVersion: v1
kind: Namespace
metadata: {name: workload}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: workload}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: workload}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.invalid/web:none"}]}
`

func TestControllerManagerMakesPodsAndCleansUp(t *testing.T) {
	c := suite.Cluster(t)
	start := time.Now()
	controllers, err := c.StartControllerManager(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer controllers.Kill()
	t.Logf("kube-controller-manager is ready after %s", time.Since(start).Round(time.Millisecond))
	kubectl(t, c, deployment, "apply", "--server-side", "-f", "-")
	count := func(want int, args ...string) {
		t.Helper()
		eventually(t, func(ctx context.Context) error {
			out, _, err := c.Kubectl(ctx, nil, append([]string{"get", "--namespace=workload", "-o", "name"}, args...)...)
			if got := len(strings.Fields(out)); err == nil && got != want {
				err = errors.New("got " + out)
			}
			return err
		})
	}
	count(2, "pods", "--selector=app=web")
	count(1, "endpointslices", "--selector=kubernetes.io/service-name=web")
	kubectl(t, c, "", "delete", "deployment", "web", "--namespace=workload", "--wait=false")
	count(0, "pods,replicasets")
	kubectl(t, c, "", "delete", "namespace", "workload", "--timeout=45s")
}
