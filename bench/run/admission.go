package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/olmgate/olmgate/catalog/source"
	"github.com/olmgate/olmgate/catalog/store"
	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/resolver"
	"github.com/olmgate/olmgate/webhook"
)

const (
	admissionRounds = 5
	roundSeconds    = 3
	allowPath       = "/always-allow"
)

// admission compares reviews by olmgate with those of a handler that allows everything, in one server.
func (b *bench) admission(ctx context.Context, c *cluster.Cluster) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	address, catalogs, err := serveBoth(ctx, c)
	if err != nil {
		return err
	}
	bodies := filepath.Join(c.Dir, "reviews.json")
	if err := writeReviews(bodies, catalogs); err != nil {
		return err
	}
	fire := func(path string, rate int) (fired, error) { return runFire(ctx, address+path, bodies, rate) }
	var ours, theirs, ourP99, theirP99 []float64
	for range admissionRounds {
		for _, m := range []struct {
			path string
			rate int
			into *[]float64
			pick func(fired) float64
		}{
			{webhook.Path, 0, &ours, func(f fired) float64 { return f.PerSecond }},
			{allowPath, 0, &theirs, func(f fired) float64 { return f.PerSecond }},
			{webhook.Path, fixedRate, &ourP99, func(f fired) float64 { return f.P99 }},
			{allowPath, fixedRate, &theirP99, func(f fired) float64 { return f.P99 }},
		} {
			f, err := fire(m.path, m.rate)
			if err != nil {
				return err
			}
			*m.into = append(*m.into, m.pick(f))
		}
	}
	b.against("admission over TLS, 100 at a time, against always-allow", median(ours), median(theirs), "reviews/s", "ratio >= 0.6", func(r float64) bool { return r >= 0.6 })
	p99, peer := median(ourP99), median(theirP99)
	b.against(fmt.Sprintf("admission at %d reviews/s: p99, against always-allow", fixedRate), p99, peer, "ms", "<= 5 ms above", nil)
	b.results[len(b.results)-1].Met = p99 <= peer+5
	return nil
}

// serveBoth starts olmgate's server with two paths: its own, and one that allows everything.
func serveBoth(ctx context.Context, c *cluster.Cluster) (address string, catalogs []resolver.Catalog, err error) {
	kube, err := clientcmd.BuildConfigFromFlags("", c.KubeconfigPath)
	if err != nil {
		return "", nil, err
	}
	scheme := runtime.NewScheme()
	if err := ocv1.AddToScheme(scheme); err != nil {
		return "", nil, err
	}
	mgr, err := ctrl.NewManager(kube, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return "", nil, err
	}
	fetcher, err := source.Pick(source.Options{HTTPOptions: source.HTTPOptions{CA: []string{c.CAFile}}, InCluster: true})
	if err != nil {
		return "", nil, err
	}
	contents := store.New(store.Options{Fetcher: fetcher})
	if err := contents.SetupWithManager(mgr); err != nil {
		return "", nil, err
	}
	webhook.PaceGC() // as serve does
	quiet := slog.New(slog.DiscardHandler)
	registry := prometheus.NewRegistry()
	metrics, err := webhook.NewMetrics(registry)
	if err != nil {
		return "", nil, err
	}
	handler, err := webhook.NewHandler(webhook.Options{Cached: mgr.GetCache(), Fresh: mgr.GetAPIReader(), Content: contents.Content, Log: quiet, Metrics: metrics})
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.Handle(webhook.Path, &webhook.Endpoint{Handler: handler, Metrics: metrics, Log: quiet})
	mux.Handle(allowPath, &webhook.Endpoint{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		return admission.Allowed("")
	}), Log: quiet})
	cert, err := certificate()
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	err = mgr.Add(&webhook.Server{Listener: listener, Handler: mux, Log: quiet, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return cert, nil }})
	if err != nil {
		return "", nil, err
	}
	go func() {
		if err := mgr.Start(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "bench: manager:", err)
		}
	}()
	err = cluster.Poll(ctx, func(ctx context.Context) error {
		var list ocv1.ClusterCatalogList
		if err := mgr.GetAPIReader().List(ctx, &list); err != nil {
			return err
		}
		catalogs = nil
		for i := range list.Items {
			content := contents.Content(&list.Items[i])
			if content.Index == nil {
				return fmt.Errorf("catalog %s: %s", list.Items[i].Name, content.Problem)
			}
			catalogs = append(catalogs, resolver.NewCatalog(&list.Items[i], content))
		}
		return nil
	})
	return "https://" + listener.Addr().String(), catalogs, err
}

// writeReviews writes reviews of extensions that resolve, whatever notes they carry: one of every package.
func writeReviews(file string, catalogs []resolver.Catalog) error {
	var bodies []json.RawMessage
	for i := range catalogs {
		for _, p := range catalogs[i].Content.Index.Packages() {
			ext := newExtension(p.Name, catalogs[i].Name)
			if resolver.Resolve(ext, catalogs, resolver.RulePackage).Outcome != resolver.OutcomeResolved {
				continue
			}
			raw, err := json.Marshal(ext)
			if err != nil {
				return err
			}
			kind := metav1.GroupVersionKind{Group: ocv1.GroupVersion.Group, Version: ocv1.GroupVersion.Version, Kind: ocv1.ClusterExtensionKind}
			resource := metav1.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: "clusterextensions"}
			body, err := json.Marshal(admissionv1.AdmissionReview{
				TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
				Request: &admissionv1.AdmissionRequest{
					UID: types.UID(fmt.Sprintf("review-%d", len(bodies))), Kind: kind, Resource: resource, RequestKind: &kind, RequestResource: &resource,
					Name: ext.Name, Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: raw},
				},
			})
			if err != nil {
				return err
			}
			bodies = append(bodies, body)
		}
	}
	raw, err := json.Marshal(bodies)
	if err != nil {
		return err
	}
	return os.WriteFile(file, raw, 0o644)
}

func certificate() (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// runFire runs the load generator as a process of its own.
func runFire(ctx context.Context, url, bodies string, rate int) (fired, error) {
	self, err := os.Executable()
	if err != nil {
		return fired{}, err
	}
	cmd := exec.CommandContext(ctx, self, "child-fire", url, bodies, fmt.Sprint(rate))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fired{}, fmt.Errorf("firing at %s: %w", url, err)
	}
	var f fired
	return f, json.Unmarshal(out, &f)
}
