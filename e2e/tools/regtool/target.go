package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// target is an image in a registry and how to trust that registry.
type target struct {
	ref, ca  string
	insecure bool
}

func targetFlags(flags *flag.FlagSet) *target {
	t := &target{}
	flags.StringVar(&t.ref, "ref", "", "image reference, tag included")
	flags.StringVar(&t.ca, "ca", "", "file of the CA that signed the registry's certificate")
	flags.BoolVar(&t.insecure, "insecure", false, "speak plain HTTP")
	return t
}

func (t *target) open() (name.Reference, remote.Option, error) {
	options := []name.Option{name.StrictValidation}
	if t.insecure {
		options = append(options, name.Insecure)
	}
	ref, err := name.ParseReference(t.ref, options...)
	if err != nil {
		return nil, nil, fmt.Errorf("reading -ref: %w", err)
	}
	transport := remote.DefaultTransport.(*http.Transport).Clone()
	if t.ca != "" {
		pem, err := os.ReadFile(t.ca)
		if err != nil {
			return nil, nil, fmt.Errorf("reading -ca: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, nil, fmt.Errorf("reading -ca: no certificate in %s", t.ca)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return ref, remote.WithTransport(transport), nil
}
