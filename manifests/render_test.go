package manifests

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// installation is a kustomization that somebody could write beside the folders of this package.
type installation struct {
	resources, components, transformers []string
	namespace                           string
}

// installations are the overlays and the combinations of components that are tested, by name.
var installations = map[string]installation{
	"enforce":              overlay("enforce"),
	"warn":                 overlay("warn"),
	"fail-closed":          overlay("fail-closed"),
	"enforce-cert-manager": overlay("enforce-cert-manager"),
	"cert-manager-create":  with("base", "cert-manager-create"),
	"openshift":            with("base", "doctor", "openshift", "network-policy"),
	"prometheus":           with("overlays/enforce", "prometheus"),
	"network-policy":       with("overlays/enforce", "network-policy"),
	"admission-policy":     with("overlays/enforce", "admission-policy"),
	"doctor":               with("overlays/enforce", "doctor"),
	"status-writer":        with("overlays/enforce", "status-writer"),
	"write-status":         with("overlays/enforce", "write-status"),
	"other-namespace":      moved(with("overlays/enforce", "prometheus", "network-policy", "doctor")),
	"other-namespace-cert-manager": moved(installation{
		resources: []string{"overlays/enforce-cert-manager"}, transformers: []string{"transformers/namespace"},
	}),

	"status-writer-monitored":       with("overlays/enforce", "status-writer", "prometheus", "network-policy"),
	"status-writer-openshift":       with("base", "status-writer", "doctor", "openshift", "network-policy"),
	"other-namespace-status-writer": transformed(moved(with("overlays/enforce", "status-writer", "network-policy"))),
	"other-namespace-write-status":  transformed(moved(with("overlays/enforce-cert-manager", "write-status"))),
}

const otherNamespace = "gatekeepers"

func overlay(name string) installation { return installation{resources: []string{"overlays/" + name}} }

func with(resource string, components ...string) installation {
	in := installation{resources: []string{resource}}
	for _, c := range components {
		in.components = append(in.components, "components/"+c)
	}
	return in
}

func moved(in installation) installation {
	in.namespace = otherNamespace
	return in
}

func transformed(in installation) installation {
	in.transformers = append(in.transformers, "transformers/namespace")
	return in
}

// rendered keeps what kustomize made, which takes it a while.
var rendered = map[string]string{}

// render is what kustomize makes of an installation.
func render(t *testing.T, name string) string {
	t.Helper()
	if text, ok := rendered[name]; ok {
		return text
	}
	in, ok := installations[name]
	if !ok {
		t.Fatalf("no installation %s", name)
	}
	text, err := in.build(t)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	rendered[name] = text
	return text
}

// build has kustomize render an installation.
func (in installation) build(t *testing.T) (string, error) {
	t.Helper()
	disk := filesys.MakeFsInMemory()
	err := fs.WalkDir(FS, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path, "chart/") {
			return err
		}
		content, err := FS.ReadFile(path)
		if err != nil {
			return err
		}
		return disk.WriteFile("/manifests/"+path, content)
	})
	if err != nil {
		t.Fatal(err)
	}
	beside := func(list []string) []string {
		var out []string
		for _, l := range list {
			out = append(out, "../manifests/"+l)
		}
		return out
	}
	kustomization, err := yaml.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "namespace": in.namespace,
		"resources": beside(in.resources), "components": beside(in.components), "transformers": beside(in.transformers),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.WriteFile("/mine/kustomization.yaml", kustomization); err != nil {
		t.Fatal(err)
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, "/mine")
	if err != nil {
		return "", err
	}
	text, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// set is a decoded installation: objects by "Kind name".
type set map[string]runtime.Object

// strict refuses unknown fields and fields that stand twice.
var strict = func() runtime.Decoder {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, rbacv1.AddToScheme, policyv1.AddToScheme,
		networkingv1.AddToScheme, admissionregistrationv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err) // cannot be: the types are Kubernetes' own
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}()

// others are the kinds of which there is no Go type here. Those of cert-manager are decoded by hand.
var others = []string{"cert-manager.io/v1 Certificate", "cert-manager.io/v1 Issuer", "monitoring.coreos.com/v1 ServiceMonitor", "monitoring.coreos.com/v1 PrometheusRule"}

func decode(t *testing.T, name string) set {
	t.Helper()
	return decodeText(t, name, render(t, name))
}

// decodeText decodes what kustomize made of the installation name.
func decodeText(t *testing.T, name, rendered string) set {
	t.Helper()
	objects := set{}
	for _, doc := range strings.Split(rendered, "\n---\n") {
		var meta metav1.PartialObjectMetadata
		if err := yaml.Unmarshal([]byte(doc), &meta); err != nil {
			t.Fatal(err)
		}
		var object runtime.Object
		if slices.Contains(others, meta.APIVersion+" "+meta.Kind) {
			u := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(doc), &u.Object); err != nil {
				t.Fatal(err)
			}
			object = u
		} else {
			var err error
			if object, _, err = strict.Decode([]byte(doc), nil, nil); err != nil {
				t.Fatalf("%s: %s %s: %v", name, meta.Kind, meta.Name, err)
			}
		}
		key := meta.Kind + " " + meta.Name
		if objects[key] != nil {
			t.Errorf("%s: two objects %s", name, key)
		}
		objects[key] = object
	}
	return objects
}

// get returns the object of a kind and name, which must be there.
func get[T runtime.Object](t *testing.T, s set, key string) T {
	t.Helper()
	object, ok := s[key].(T)
	if !ok {
		t.Fatalf("no %s", key)
	}
	return object
}

func (s set) hook(t *testing.T) admissionregistrationv1.ValidatingWebhook {
	t.Helper()
	c := get[*admissionregistrationv1.ValidatingWebhookConfiguration](t, s, "ValidatingWebhookConfiguration olmgate")
	if len(c.Webhooks) != 1 {
		t.Fatalf("%d webhooks", len(c.Webhooks))
	}
	return c.Webhooks[0]
}

func (s set) deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	return get[*appsv1.Deployment](t, s, "Deployment olmgate")
}

// text is a field of an object without a Go type.
func text(t *testing.T, s set, key string, path ...string) string {
	t.Helper()
	value, found, err := unstructured.NestedFieldNoCopy(get[*unstructured.Unstructured](t, s, key).Object, path...)
	if err != nil || !found {
		t.Fatalf("%s: %v: found %v, %v", key, path, found, err)
	}
	return fmt.Sprint(value)
}

// each runs a test for every installation.
func each(t *testing.T, test func(t *testing.T, s set)) {
	for name := range installations {
		t.Run(name, func(t *testing.T) { test(t, decode(t, name)) })
	}
}
