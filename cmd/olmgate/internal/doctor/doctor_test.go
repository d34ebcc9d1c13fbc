package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"

	"github.com/olmgate/olmgate/webhook"
)

var today = time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// pair is a self-signed certificate for a name, and it in PEM.
func pair(t *testing.T, name string, from, to time.Time) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: to, DNSNames: []string{name},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// serve answers handshakes with the certificate; without one it hangs up.
func serve(t *testing.T, cert *tls.Certificate) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if cert != nil {
				_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS13}).HandshakeContext(context.Background())
			}
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

func TestTheCertificateIsSeenWithTheEyesOfTheAPIServer(t *testing.T) {
	const host = "olmgate-webhook.ns.svc"
	good, goodPEM := pair(t, host, today.Add(-day), today.Add(30*day))
	old, oldPEM := pair(t, host, today.Add(-97*day), today.Add(3*day))
	expired, expiredPEM := pair(t, host, today.Add(-9*day), today.Add(-day))
	other, otherPEM := pair(t, "elsewhere.svc", today.Add(-day), today.Add(30*day))
	for name, tc := range map[string]struct {
		serve  *tls.Certificate
		bundle []byte
		state  State
		want   string
	}{
		"trusted":                 {&good, goodPEM, OK, "trusts, valid for 30 days (until 2031-05-31T12:00:00Z)"},
		"among several":           {&good, append(append([]byte{}, oldPEM...), goodPEM...), OK, "trusts"},
		"near its end":            {&old, oldPEM, Warning, "valid for 3 days"},
		"expired":                 {&expired, expiredPEM, Fault, "expired"},
		"of another authority":    {&good, oldPEM, Fault, "signed by unknown authority"},
		"for another name":        {&other, otherPEM, Fault, "not olmgate-webhook.ns.svc"},
		"no bundle":               {&good, nil, Fault, "does not trust"},
		"something else than TLS": {nil, goodPEM, Fault, "does not complete a TLS handshake"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &doctor{
				Options: Options{Namespace: "ns", InCluster: true, Timeout: time.Minute}, now: func() time.Time { return today },
				hook:      &admissionregistrationv1.ValidatingWebhook{ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: tc.bundle}},
				endpoints: []endpoint{{address: serve(t, tc.serve)}},
			}
			d.do(t.Context(), "certificate", d.certificate)
			if len(d.findings) != 1 || d.findings[0].State != tc.state || !strings.Contains(d.findings[0].Message, tc.want) || (tc.state == Fault) != (d.findings[0].Next != "") && tc.state != Warning {
				t.Errorf("got %+v", d.findings)
			}
		})
	}
}

func TestTheCABundleMustHoldSomethingValid(t *testing.T) {
	_, good := pair(t, "x", today.Add(-day), today.Add(30*day))
	_, expired := pair(t, "x", today.Add(-9*day), today.Add(-day))
	for name, tc := range map[string]struct {
		bundle string
		state  State
		want   string
	}{
		"one":            {string(good), OK, "1 authority's certificate, valid until 2031-05-31T12:00:00Z"},
		"one has ended":  {string(expired) + string(good), OK, "1 authority's certificate"},
		"all have ended": {string(expired), Fault, "no certificate that is valid now (1 expired)"},
		"empty":          {" \n", Fault, "has no caBundle"},
		"no PEM":         {"rubbish", Fault, "no certificate that is valid now"},
		"no certificate": {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + string(good), Warning, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &doctor{now: func() time.Time { return today }, hook: &admissionregistrationv1.ValidatingWebhook{ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: []byte(tc.bundle)}}}
			if err := d.caBundle(t.Context()); err != nil || d.findings[0].State != tc.state || !strings.Contains(d.findings[0].Message, tc.want) {
				t.Errorf("got %+v, %v", d.findings, err)
			}
		})
	}
}

func TestReadyAddressesAreCountedOnce(t *testing.T) {
	slice := func(ready *bool, addresses ...string) discoveryv1.EndpointSlice {
		return discoveryv1.EndpointSlice{
			Ports: []discoveryv1.EndpointPort{{Name: ptr.To("metrics"), Port: ptr.To[int32](8080)}, {Name: ptr.To("webhook"), Port: ptr.To[int32](9443)}},
			Endpoints: []discoveryv1.Endpoint{{
				Addresses: addresses, Conditions: discoveryv1.EndpointConditions{Ready: ready}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: "p-" + addresses[0]},
			}},
		}
	}
	got := readyEndpoints([]discoveryv1.EndpointSlice{
		slice(ptr.To(true), "10.0.0.2"), slice(nil, "10.0.0.1"), slice(ptr.To(false), "10.0.0.3"), slice(ptr.To(true), "10.0.0.2"), slice(ptr.To(true), "fd00::1"),
		{Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.9"}}}}, // without a port
	})
	want := []endpoint{{"10.0.0.1:9443", "p-10.0.0.1"}, {"10.0.0.2:9443", "p-10.0.0.2"}, {"[fd00::1]:9443", "p-fd00::1"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(endpoint{})); diff != "" {
		t.Error(diff)
	}
}

func TestPodsSayWhyTheyAreNotReady(t *testing.T) {
	d := &doctor{pods: []corev1.Pod{
		{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}}},
		}}},
		{Status: corev1.PodStatus{
			ContainerStatuses: []corev1.ContainerStatus{{LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137}}}},
			Conditions:        []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes"}},
		}},
	}}
	if got, want := d.podTroubles(), ": ImagePullBackOff: not found; it ended with OOMKilled (exit status 137); Unschedulable: 0/1 nodes"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheModeIsThatOfTheDeployment(t *testing.T) {
	deploy := func(args ...string) *appsv1.Deployment {
		d := &appsv1.Deployment{}
		d.Spec.Template.Spec = corev1.PodSpec{
			Containers: []corev1.Container{{Name: "sidecar"}, {Name: container, Args: args, VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/olmgate/"}, {Name: "one", MountPath: "/etc/one.yaml", SubPath: "two.yaml"}}}},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Items: []corev1.KeyToPath{{Key: "k", Path: "renamed.yaml"}}}}},
				{Name: "one", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "single"}}}},
			},
		}
		return d
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "Enforce"}, {[]string{"serve", "--mode=Warn"}, "Warn"}, {[]string{"serve", "--mode", "Warn"}, "Warn"}, {[]string{"--mode"}, "Enforce"},
	} {
		d := &doctor{deployed: deploy(tc.args...)}
		if got, err := d.settings(t.Context()); got.Mode != tc.want || err != nil {
			t.Errorf("%q: %q, %v", tc.args, got.Mode, err)
		}
	}
	d := &doctor{deployed: deploy()}
	for file, want := range map[string][2]string{
		"/etc/olmgate/config.yaml":  {"settings", "config.yaml"},
		"/etc/olmgate/renamed.yaml": {"settings", "k"},
		"/etc/one.yaml":             {"single", "two.yaml"},
		"/etc/olmgate2/config.yaml": {"", ""},
		"/elsewhere":                {"", ""},
	} {
		if name, key := d.configMap(file); name != want[0] || key != want[1] {
			t.Errorf("%s: %s %s", file, name, key)
		}
	}
	if _, err := (&doctor{deployed: deploy("--config=/elsewhere")}).settings(t.Context()); err == nil {
		t.Error("a file that is in no ConfigMap has a mode")
	}
}

func TestTheMetricsThatAreAskedForExist(t *testing.T) {
	known := map[string]bool{}
	for _, m := range webhook.MetricDocs() {
		known[m.Name] = true
	}
	for _, name := range []string{notAfterMetric, trustedMetric, stateMetric} {
		if !known[name] {
			t.Errorf("olmgate has no metric %s", name)
		}
	}
}
