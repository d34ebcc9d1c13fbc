package main

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cert-manager/cert-manager/pkg/client/clientset/versioned"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/certs"
	"github.com/olmgate/olmgate/config"
	"github.com/olmgate/olmgate/webhook"
)

// newCertificates is the source that the configuration names.
func newCertificates(kube *rest.Config, o *serveOptions, conf config.OlmgateConfiguration, log *slog.Logger) (certs.Source, error) {
	c := conf.Certificates
	if c.Source == config.SourceFiles {
		if c.Files.CertFile == "" {
			return nil, errors.New("setting up the certificates: the source Files needs files: give --tls-cert-file and --tls-key-file, or certificates.files")
		}
		return certs.NewFiles(certs.FilesOptions{CertFile: c.Files.CertFile, KeyFile: c.Files.KeyFile, Log: log})
	}
	cluster, err := certificateCluster(kube, o, c, log)
	if err != nil {
		return nil, fmt.Errorf("setting up the certificates: %w", err)
	}
	if c.Source == config.SourceCertManager {
		api, err := versioned.NewForConfig(kube)
		if err != nil {
			return nil, fmt.Errorf("setting up the certificates: connecting to %s: %w", kube.Host, err)
		}
		return certs.NewCertManager(certs.CertManagerOptions{Cluster: cluster, CertManager: api, Create: c.CertManager.Create}), nil
	}
	options := certs.SelfManagedOptions{Cluster: cluster}
	if err := durations(map[*time.Duration]config.Duration{
		&options.AuthorityLifetime: c.SelfManaged.AuthorityLifetime,
		&options.ServingLifetime:   c.SelfManaged.ServingLifetime,
	}); err != nil {
		return nil, fmt.Errorf("setting up the certificates: %w", err)
	}
	return certs.NewSelfManaged(options), nil
}

// certificateCluster has a client that does not cache: olmgate may read a few Secrets by name, and list no others.
func certificateCluster(kube *rest.Config, o *serveOptions, c config.Certificates, log *slog.Logger) (certs.Cluster, error) {
	cluster := certs.Cluster{Namespace: o.namespace, Service: o.service, Log: log}
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), admissionv1.AddToScheme(scheme)); err != nil {
		return cluster, err
	}
	direct, err := client.NewWithWatch(kube, client.Options{Scheme: scheme})
	if err != nil {
		return cluster, fmt.Errorf("connecting to %s: %w", kube.Host, err)
	}
	cluster.Client = direct
	return cluster, durations(map[*time.Duration]config.Duration{&cluster.Settle: c.Settle})
}

// durations reads fields of a configuration that has been validated.
func durations(fields map[*time.Duration]config.Duration) error {
	for to, from := range fields {
		d, err := from.Duration()
		if err != nil {
			return err
		}
		*to = d
	}
	return nil
}

// newClients is nil when everybody is let in.
func newClients(conf config.OlmgateConfiguration, log *slog.Logger) (*certs.Clients, error) {
	ca := conf.Webhook.ClientCA
	if ca.File == "" {
		return nil, nil
	}
	clients, err := certs.NewClients(certs.ClientsOptions{CAFile: ca.File, AllowedNames: ca.AllowedNames, Log: log})
	if err != nil {
		return nil, fmt.Errorf("setting up the webhook: %w", err)
	}
	return clients, nil
}

// certificateState is the certificate as the metrics show it.
func certificateState(serving certs.Source) webhook.CertificateState {
	s := serving.State()
	return webhook.CertificateState{
		NotAfter: s.NotAfter, Trusted: s.Trust == certs.Trusted, TrustKnown: s.Trust != certs.TrustUnknown,
		Rotations: s.Rotations, Changes: s.Changes,
	}
}
