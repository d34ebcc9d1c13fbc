package manifests

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
)

var update = flag.Bool("update", false, "write the golden files")

func TestInstallationsRenderAsBefore(t *testing.T) {
	for name := range installations {
		t.Run(name, func(t *testing.T) {
			got := render(t, name)
			golden := filepath.Join("testdata", name+".yaml")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("run with -update after looking at this: %s", diff)
			}
		})
	}
}

func TestEveryFolderIsTested(t *testing.T) {
	used := map[string]bool{}
	for _, in := range installations {
		for _, folder := range slices.Concat(in.resources, in.components, in.transformers) {
			used[folder] = true
		}
	}
	// Those that the overlays name.
	for _, folder := range []string{"base", "components/self-managed", "components/cert-manager"} {
		used[folder] = true
	}
	err := fs.WalkDir(FS, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "kustomization.yaml" && !used[filepath.Dir(path)] {
			t.Errorf("no installation has %s", filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestThePartsFitTogether(t *testing.T) {
	s := decode(t, "prometheus")
	hook, deployment := s.hook(t), s.deployment(t)
	service := get[*corev1.Service](t, s, "Service olmgate-webhook")
	metrics := get[*corev1.Service](t, s, "Service olmgate-metrics")
	pod := deployment.Spec.Template
	container := pod.Spec.Containers[0]
	equal := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	equal("service of the webhook", hook.ClientConfig.Service.Namespace+"/"+hook.ClientConfig.Service.Name, service.Namespace+"/"+service.Name)
	equal("port of the webhook", *hook.ClientConfig.Service.Port, service.Spec.Ports[0].Port)
	equal("path of the webhook", *hook.ClientConfig.Service.Path, "/validate-clusterextension")
	for key, value := range service.Spec.Selector {
		equal("label "+key+" of the pods", pod.Labels[key], value)
	}
	equal("selector of the Deployment", deployment.Spec.Selector.MatchLabels, service.Spec.Selector)
	equal("selector of the metrics", metrics.Spec.Selector, service.Spec.Selector)
	ports := map[string]int32{}
	for _, p := range container.Ports {
		ports[p.Name] = p.ContainerPort
	}
	equal("ports", ports, map[string]int32{"webhook": 9443, "metrics": 8080, "health": 8081})
	equal("target port of the service", service.Spec.Ports[0].TargetPort.StrVal, "webhook")
	equal("target port of the metrics", metrics.Spec.Ports[0].TargetPort.StrVal, "metrics")
	equal("secret of the authority of catalogd", pod.Spec.Volumes[1].Secret.SecretName, text(t, s, "Certificate olmgate-catalogd-ca", "spec", "secretName"))
	equal("the Secret may be missing", *pod.Spec.Volumes[1].Secret.Optional, true)
	equal("issuer", text(t, s, "Certificate olmgate-catalogd-ca", "spec", "issuerRef", "name"), "olmv1-ca")
	equal("arguments", container.Args, []string{
		"serve", "--webhook-bind-address=:9443", "--metrics-bind-address=:8080",
		"--health-probe-bind-address=:8081", "--catalogd-ca=" + container.VolumeMounts[1].MountPath + "/ca.crt",
		"--cache-dir=" + container.VolumeMounts[0].MountPath, "--cert-source=SelfManaged",
	})
}

// TestWhatTheOverlaysChange compares them with enforce: each differs in the one thing that it is for.
func TestWhatTheOverlaysChange(t *testing.T) {
	base := strings.Split(render(t, "enforce"), "\n")
	for name, want := range map[string][]string{
		"warn":        {"        - --mode=Warn"},
		"fail-closed": {"  failurePolicy: Fail"},
	} {
		t.Run(name, func(t *testing.T) {
			var added []string
			for line := range strings.SplitSeq(render(t, name), "\n") {
				if !slices.Contains(base, line) {
					added = append(added, line)
				}
			}
			if diff := cmp.Diff(want, added); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTheCertificatesOfEachSource looks at where the certificate comes from: who is told, who injects, what is made.
func TestTheCertificatesOfEachSource(t *testing.T) {
	for name, want := range map[string]struct {
		args, annotations, kinds []string
	}{
		"enforce": {[]string{"--cert-source=SelfManaged"}, nil, []string{"Certificate olmgate-catalogd-ca"}},
		"enforce-cert-manager": {[]string{"--cert-source=CertManager"}, []string{"cert-manager.io/inject-ca-from-secret=olmgate-system/olmgate-trust"}, []string{
			"Certificate olmgate-ca", "Certificate olmgate-catalogd-ca", "Certificate olmgate-webhook", "Issuer olmgate-ca", "Issuer olmgate-selfsigned",
		}},
		"cert-manager-create": {
			[]string{"--cert-source=CertManager", "--cert-manager-create"}, []string{"cert-manager.io/inject-ca-from-secret=olmgate-system/olmgate-trust"},
			[]string{"Certificate olmgate-catalogd-ca"},
		},
		"openshift": {
			[]string{"--cert-source=Files", "--tls-cert-file=/var/run/olmgate/tls/tls.crt", "--tls-key-file=/var/run/olmgate/tls/tls.key"},
			[]string{"service.beta.openshift.io/inject-cabundle=true"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := decode(t, name)
			var kinds []string
			for _, key := range slices.Sorted(maps.Keys(s)) {
				if strings.HasPrefix(key, "Certificate ") || strings.HasPrefix(key, "Issuer ") {
					kinds = append(kinds, key)
				}
			}
			var annotations []string
			for key, value := range annotationsOf(t, s, "ValidatingWebhookConfiguration olmgate") {
				annotations = append(annotations, key+"="+value)
			}
			for what, pair := range map[string][2][]string{
				"arguments":   {want.args, s.deployment(t).Spec.Template.Spec.Containers[0].Args[6:]},
				"annotations": {want.annotations, annotations},
				"objects":     {want.kinds, kinds},
			} {
				if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
					t.Errorf("%s: %s", what, diff)
				}
			}
		})
	}
}

func TestANamespaceOfOnesOwn(t *testing.T) {
	for name := range installations {
		if installations[name].namespace == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for line := range strings.SplitSeq(render(t, name), "\n") {
				if strings.Contains(line, "olmgate-system") {
					t.Errorf("still there: %s", line)
				}
			}
			s := decode(t, name)
			if got := s.hook(t).ClientConfig.Service.Namespace; got != otherNamespace {
				t.Errorf("the webhook calls a Service in %s", got)
			}
			for _, key := range []string{"Role olmgate-status-writer-events", "RoleBinding olmgate-status-writer-events"} {
				if object, err := meta.Accessor(s[key]); err == nil && object.GetNamespace() != corev1.NamespaceDefault {
					t.Errorf("%s is in %s, and events about ClusterExtensions are not", key, object.GetNamespace())
				}
			}
			for key, namespace := range subjectsOf(s) {
				if namespace != otherNamespace {
					t.Errorf("%s is for an account in %s", key, namespace)
				}
			}
			if s["Namespace "+otherNamespace] == nil {
				t.Error("the Namespace has another name")
			}
		})
	}
	s := decode(t, "other-namespace-cert-manager")
	if got, want := text(t, s, "Certificate olmgate-webhook", "spec", "dnsNames"), "[olmgate-webhook.gatekeepers.svc olmgate-webhook.gatekeepers.svc.cluster.local]"; got != want {
		t.Errorf("the certificate is for %s", got)
	}
	if got := annotationsOf(t, s, "ValidatingWebhookConfiguration olmgate")["cert-manager.io/inject-ca-from-secret"]; got != otherNamespace+"/olmgate-trust" {
		t.Errorf("cainjector reads %s", got)
	}
}
