package e2e_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/webhook"
)

// panickingAddress is where a webhook of olmgate's own code listens whose resolver panics.
const panickingAddress = "10.200.0.30:9443"

// The binary has no switch that makes it panic, so olmgate's server runs in this process. failurePolicy Fail makes sure
// that it is olmgate that lets the object through.
func TestPanicLetsThrough(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	w.servePanics()
	w.Cleanup(func() { w.kubectl("delete", "validatingwebhookconfiguration", "panicking") })
	if err := w.Apply(w.ctx(), panicking(w.CatalogdCA.PEM)); err != nil {
		t.Fatal(err)
	}

	const says = "admitted without a check: a panic, which olmgate's log holds"
	kiln := strings.Replace(extension("kiln", "packageName: kiln-operator"), "metadata:\n", "metadata:\n  labels: {olmgate.dev/e2e: panic}\n", 1)
	w.trySays(kiln, "InternalError") // the API server takes a moment to know the webhook
	w.apply(kiln).warned("InternalError", says)
	w.apply(strings.Replace(kiln, "packageName: kiln-operator", "packageName: kiln-operator\n      version: 1.0.0", 1)).warned("InternalError", says)
}

// servePanics runs the webhook until the test ends.
func (w *world) servePanics() {
	w.Helper()
	certFile, keyFile, err := w.CatalogdCA.Issue("panicking", cluster.Subject{CommonName: "panicking", IPs: []string{"10.200.0.30"}})
	if err != nil {
		w.Fatal(err)
	}
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		w.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", w.KubeconfigPath)
	if err != nil {
		w.Fatal(err)
	}
	ctrllog.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	if err := ocv1.AddToScheme(scheme); err != nil {
		w.Fatal(err)
	}
	reader, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		w.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	handler, err := webhook.NewHandler(webhook.Options{
		Cached: reader, Fresh: reader, Log: log,
		Content: func(*ocv1.ClusterCatalog) catalog.Content { return catalog.Content{} },
		Resolve: func(*ocv1.ClusterExtension, []resolver.Catalog, resolver.Rule) resolver.Verdict { panic("a fault") },
	})
	if err != nil {
		w.Fatal(err)
	}
	server := &webhook.Server{
		Address: panickingAddress, Log: log,
		Handler:        webhook.NewMux(&webhook.Endpoint{Handler: handler, Log: log}),
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil },
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Start(ctx) }()
	w.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	})
}

// panicking registers the webhook for labelled extensions.
func panicking(ca []byte) admissionv1.ValidatingWebhookConfiguration {
	url, fail, none := "https://"+panickingAddress+webhook.Path, admissionv1.Fail, admissionv1.SideEffectClassNone
	return admissionv1.ValidatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: "panicking"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name:           "panicking.olmgate.dev",
			ClientConfig:   admissionv1.WebhookClientConfig{URL: &url, CABundle: ca},
			ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"olmgate.dev/e2e": "panic"}},
			FailurePolicy:  &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{"olm.operatorframework.io"}, APIVersions: []string{"v1"}, Resources: []string{"clusterextensions"}},
			}},
		}},
	}
}
