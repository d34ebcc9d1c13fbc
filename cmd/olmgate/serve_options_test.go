package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/olmgate/olmgate/certs"
	"github.com/olmgate/olmgate/config"
)

// served are the options that a command line makes, and the configuration with them.
func served(t *testing.T, args ...string) (*serveOptions, config.OlmgateConfiguration, error) {
	t.Helper()
	o := &serveOptions{}
	o.flags = serveFlags(o)
	if err := o.flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	conf, err := o.config()
	return o, conf, err
}

func TestFlagsChooseTheCertificates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "olmgate.yaml")
	text := "apiVersion: config.olmgate.dev/v1alpha1\nkind: OlmgateConfiguration\ncertificates: {source: CertManager}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args    string
		want    string
		problem string
	}{
		"nothing said":                     {"", config.SourceSelfManaged, ""},
		"files are named":                  {"--tls-cert-file=a --tls-key-file=b", config.SourceFiles, ""},
		"files without their key":          {"--tls-cert-file=a", "", "certFile and keyFile belong together"},
		"files and their source":           {"--tls-cert-file=a --tls-key-file=b --cert-source=Files", config.SourceFiles, ""},
		"files and another source":         {"--tls-cert-file=a --tls-key-file=b --cert-source=SelfManaged", "", "belong to the source Files, not to SelfManaged"},
		"files and another source in file": {"--tls-cert-file=a --tls-key-file=b --config=" + file, "", "belong to the source Files, not to CertManager"},
		"cert-manager":                     {"--cert-source=CertManager --cert-manager-create", config.SourceCertManager, ""},
		"the file is overridden":           {"--cert-source=SelfManaged --config=" + file, config.SourceSelfManaged, ""},
		"the file says it":                 {"--config=" + file, config.SourceCertManager, ""},
		"none of them":                     {"--cert-source=certmanager", "", `certificates.source: is "certmanager"`},
		"names of clients without a CA":    {"--client-allowed-names=a", "", "webhook.clientCA.file: is missing"},
		"a CA of clients":                  {"--client-ca-file=ca --client-allowed-names=a,b", config.SourceSelfManaged, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, conf, err := served(t, strings.Fields(tc.args)...)
			switch {
			case tc.problem != "":
				if err == nil || !strings.Contains(err.Error(), tc.problem) {
					t.Errorf("error: %v", err)
				}
			case err != nil:
				t.Error(err)
			case conf.Certificates.Source != tc.want:
				t.Errorf("source %s", conf.Certificates.Source)
			}
		})
	}
	if _, conf, _ := served(t, "--cert-manager-create", "--client-ca-file=ca", "--client-allowed-names=a,b"); !conf.Certificates.CertManager.Create ||
		conf.Webhook.ClientCA.File != "ca" || len(conf.Webhook.ClientCA.AllowedNames) != 2 {
		t.Errorf("%+v %+v", conf.Certificates, conf.Webhook)
	}
}

func TestTheSourceIsMadeThatWasChosen(t *testing.T) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	source := func(args ...string) (certs.Source, error) {
		o, conf, err := served(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		return newCertificates(&rest.Config{Host: "https://127.0.0.1:1"}, o, conf, log)
	}
	if s, err := source(); err != nil {
		t.Error(err)
	} else if _, ok := s.(*certs.SelfManaged); !ok {
		t.Errorf("%T", s)
	}
	if s, err := source("--cert-source=CertManager"); err != nil {
		t.Error(err)
	} else if _, ok := s.(*certs.CertManager); !ok {
		t.Errorf("%T", s)
	}
	if _, err := source("--cert-source=Files"); err == nil || !strings.Contains(err.Error(), "give --tls-cert-file and --tls-key-file") {
		t.Errorf("Files without files: %v", err)
	}
	if _, err := source("--tls-cert-file=/nowhere/a", "--tls-key-file=/nowhere/b"); err == nil || !strings.Contains(err.Error(), "/nowhere/a") {
		t.Errorf("Files that are absent: %v", err)
	}
	_, conf, err := served(t, "--client-ca-file=/nowhere/ca")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newClients(conf, log); err == nil || !strings.Contains(err.Error(), "/nowhere/ca") {
		t.Errorf("a CA of clients that is absent: %v", err)
	}
}
