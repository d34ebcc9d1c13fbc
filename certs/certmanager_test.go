package certs

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	cmfake "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/fake"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"
)

// fakeCertManager issues into the Secret and, as cainjector, copies caBundle.
type fakeCertManager struct {
	t         *testing.T
	client    client.WithWatch
	clock     *clocktesting.FakeClock
	objects   *cmfake.Clientset
	authority *authority
	life      time.Duration
	// silent leaves out ca.crt, as some issuers do.
	silent bool
	create bool
}

func newFakeCertManager(t *testing.T, c client.WithWatch, clock *clocktesting.FakeClock, objects ...runtime.Object) *fakeCertManager {
	config := configuration(t, c)
	config.Annotations = map[string]string{injectFromSecret: namespace + "/" + trustSecretName}
	update(t, c, config)
	return &fakeCertManager{t: t, client: c, clock: clock, objects: cmfake.NewSimpleClientset(objects...), life: 90 * 24 * time.Hour}
}

func (f *fakeCertManager) source() *CertManager {
	return NewCertManager(CertManagerOptions{
		Cluster:     Cluster{Client: f.client, Clock: f.clock, Log: silent},
		CertManager: f.objects, Create: f.create,
	})
}

// rotate issues from another CA.
func (f *fakeCertManager) rotate() {
	f.authority = newTestAuthority(f.t, f.clock.Now())
	f.renew()
}

// renew issues from the same one.
func (f *fakeCertManager) renew() {
	f.t.Helper()
	cert, key := pemOf(f.t, issue(f.t, f.authority, f.clock.Now(), f.life))
	data := map[string][]byte{corev1.TLSCertKey: cert, corev1.TLSPrivateKeyKey: key, caKey: f.authority.certPEM}
	if f.silent {
		delete(data, caKey)
	}
	f.write(data)
}

func (f *fakeCertManager) write(data map[string][]byte) {
	f.t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: tlsSecretName}, Type: corev1.SecretTypeTLS, Data: data}
	err := f.client.Update(f.t.Context(), s)
	if apierrors.IsNotFound(err) {
		err = f.client.Create(f.t.Context(), s)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeCertManager) inject() {
	f.t.Helper()
	s := &corev1.Secret{}
	err := f.client.Get(f.t.Context(), client.ObjectKey{Namespace: namespace, Name: trustSecretName}, s)
	if err == nil && s.Annotations[allowInjection] == "true" && s.Data[caKey] != nil {
		setBundles(f.t, f.client, s.Data[caKey])
	}
}

func TestWhatCertManagerIssuesIsServedAtOnceTheFirstTime(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	cm := newFakeCertManager(t, c, clock)
	s := cm.source()
	cm.rotate()
	if err := s.Reconcile(t.Context()); err == nil || !strings.Contains(err.Error(), "cainjector copies it from Secret olmgate-system/olmgate-trust") {
		t.Errorf("before the injection: %v", err)
	}
	if s.Ready() == nil || s.State().Trust != NotTrusted {
		t.Errorf("ready before the API server can trust it: %+v", s.State())
	}
	if err := shake(t.Context(), s, cm.authority.certPEM, host, clock.Now()); err != nil {
		t.Error(err)
	}
	cm.inject()
	reconcile(t, s)
	if err := s.Ready(); err != nil || s.State().Trust != Trusted {
		t.Errorf("%v, %+v", err, s.State())
	}
	if findings, err := s.Diagnose(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("%v, %v", findings, err)
	}
}

func TestANewCAOfCertManagerOverlaps(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	cm := newFakeCertManager(t, c, clock)
	s := cm.source()
	look := func() {
		t.Helper()
		_ = s.Reconcile(t.Context())
		cm.inject()
		reconcile(t, s)
	}
	cm.rotate()
	look()
	first := s.current()
	cm.renew()
	clock.Step(DefaultSettle)
	reconcile(t, s)
	second := s.current()
	if second.same(first) {
		t.Error("a renewal by the same CA has to wait")
	}
	cm.rotate()
	look()
	if !s.current().same(second) {
		t.Error("a certificate of another CA is served before every API server can know that")
	}
	if n := len(parseBundle(bundles(t, c)[0])); n != 2 {
		t.Errorf("%d CAs are trusted", n)
	}
	// One that starts now has nothing but the new certificate: it lets the others take the requests.
	late := cm.source()
	reconcile(t, late)
	if err := late.Ready(); err == nil || !strings.Contains(err.Error(), "not every API server may know yet") {
		t.Errorf("a replica that starts: %v", err)
	}
	clock.Step(DefaultSettle)
	reconcile(t, s)
	reconcile(t, late)
	if !s.current().roots.has(cm.authority.cert) || s.State().Changes != 1 || late.Ready() != nil {
		t.Errorf("%+v, ready: %v", s.State(), late.Ready())
	}
	clock.Step(DefaultRetire - DefaultSettle)
	look()
	if trusted := parseBundle(bundles(t, c)[0]); len(trusted) != 2 {
		t.Errorf("%d CAs are trusted", len(trusted))
	}
	clock.Step(time.Minute)
	look()
	if trusted := parseBundle(bundles(t, c)[0]); len(trusted) != 1 || !trusted.has(cm.authority.cert) {
		t.Errorf("%d CAs are trusted in the end", len(trusted))
	}
}

func TestACertificateStaysWhenItsSecretGoes(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	cm := newFakeCertManager(t, c, clock, certificateObject(nil))
	s := cm.source()
	cm.rotate()
	_ = s.Reconcile(t.Context())
	cm.inject()
	reconcile(t, s)
	for name, spoil := range map[string]func(){
		"rubbish": func() { cm.write(map[string][]byte{corev1.TLSCertKey: []byte("x"), corev1.TLSPrivateKeyKey: nil}) },
		"deleted": func() {
			if err := c.Delete(t.Context(), secret(t, c, tlsSecretName)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		spoil()
		if err := s.Reconcile(t.Context()); err == nil || !strings.Contains(err.Error(), "Secret olmgate-system/olmgate-webhook-tls") {
			t.Errorf("%s: %v", name, err)
		}
		if err := errors.Join(s.Ready(), shake(t.Context(), s, bundles(t, c)[0], host, clock.Now())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	clock.Step(91 * 24 * time.Hour)
	if err := s.Ready(); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("expired: %v", err)
	}
}

// certificateObject is the Certificate that is expected, with conditions.
func certificateObject(change func(*cmv1.Certificate)) *cmv1.Certificate {
	cert := &cmv1.Certificate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: certificateName},
		Spec: cmv1.CertificateSpec{
			SecretName: tlsSecretName, DNSNames: []string{host},
			IssuerRef: cmmeta.IssuerReference{Name: authorityCRName, Kind: cmv1.IssuerKind},
		},
	}
	if change != nil {
		change(cert)
	}
	return cert
}

func issuerObject(status cmmeta.ConditionStatus, reason, message string) *cmv1.Issuer {
	return &cmv1.Issuer{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: authorityCRName},
		Status:     cmv1.IssuerStatus{Conditions: []cmv1.IssuerCondition{{Type: cmv1.IssuerConditionReady, Status: status, Reason: reason, Message: message}}},
	}
}

func requestObject(name, revision string, conditions ...cmv1.CertificateRequestCondition) *cmv1.CertificateRequest {
	return &cmv1.CertificateRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{
			cmv1.CertificateNameKey: certificateName, cmv1.CertificateRequestRevisionAnnotationKey: revision,
		}},
		Status: cmv1.CertificateRequestStatus{Conditions: conditions},
	}
}

func TestTheDiagnosisNamesTheCause(t *testing.T) {
	good := issuerObject(cmmeta.ConditionTrue, "", "")
	notReady := certificateObject(func(c *cmv1.Certificate) {
		c.Status.Conditions = []cmv1.CertificateCondition{{Type: cmv1.CertificateConditionReady, Status: cmmeta.ConditionFalse, Reason: "DoesNotExist", Message: "Issuing certificate as Secret does not exist"}}
	})
	denied := cmv1.CertificateRequestCondition{Type: cmv1.CertificateRequestConditionDenied, Status: cmmeta.ConditionTrue, Message: "no policy"}
	failed := cmv1.CertificateRequestCondition{Type: cmv1.CertificateRequestConditionReady, Status: cmmeta.ConditionFalse, Reason: cmv1.CertificateRequestReasonFailed, Message: "no quota"}
	for name, tc := range map[string]struct {
		objects []runtime.Object
		fail    error // of every call
		spoil   func(*testing.T, *fakeCertManager)
		want    []Reason
		says    string
	}{
		"cert-manager is not installed": {
			fail: apierrors.NewGenericServerResponse(http.StatusNotFound, "get", cmv1.Resource("certificates"), "", "404 page not found", 0, true),
			want: []Reason{CertManagerMissing, SecretMissing}, says: "cert-manager is not installed: the API server does not know cert-manager.io/v1; install cert-manager",
		},
		"there is no Certificate": {want: []Reason{CertificateMissing, SecretMissing}, says: "Certificate olmgate-system/olmgate-webhook does not exist; apply it"},
		"olmgate may not look": {
			fail: apierrors.NewForbidden(cmv1.Resource("certificates"), certificateName, nil),
			want: []Reason{Unreadable, SecretMissing}, says: "forbidden",
		},
		"the Certificate is for something else": {
			objects: []runtime.Object{good, certificateObject(func(c *cmv1.Certificate) { c.Spec.SecretName, c.Spec.DNSNames = "x", []string{"y"} })},
			want:    []Reason{CertificateUnsuitable, CertificateUnsuitable, CertificateNotReady, SecretMissing}, says: "set spec.secretName to olmgate-webhook-tls",
		},
		"the Certificate is not Ready": {
			objects: []runtime.Object{good, notReady},
			want:    []Reason{CertificateNotReady, SecretMissing}, says: "is not Ready: DoesNotExist: Issuing certificate as Secret does not exist",
		},
		"there is no Issuer": {objects: []runtime.Object{notReady}, want: []Reason{IssuerMissing, CertificateNotReady, SecretMissing}, says: "Issuer olmgate-system/olmgate-ca does not exist"},
		"the Issuer is not ready": {
			objects: []runtime.Object{issuerObject(cmmeta.ConditionFalse, "ErrGetKeyPair", "secret not found"), notReady},
			want:    []Reason{IssuerNotReady, CertificateNotReady, SecretMissing}, says: "is not Ready: ErrGetKeyPair: secret not found",
		},
		"there is no ClusterIssuer": {
			objects: []runtime.Object{certificateObject(func(c *cmv1.Certificate) {
				c.Spec.IssuerRef = cmmeta.IssuerReference{Name: "corp", Kind: cmv1.ClusterIssuerKind}
			})},
			want: []Reason{IssuerMissing, CertificateNotReady, SecretMissing}, says: "ClusterIssuer corp does not exist",
		},
		"the newest request was denied": {
			objects: []runtime.Object{good, notReady, requestObject("a", "9", failed), requestObject("b", "10", denied)},
			want:    []Reason{RequestDenied, CertificateNotReady, SecretMissing}, says: "CertificateRequest olmgate-system/b was denied: no policy",
		},
		"the newest request failed": {
			objects: []runtime.Object{good, notReady, requestObject("a", "1", denied), requestObject("b", "2", failed)},
			want:    []Reason{RequestFailed, CertificateNotReady, SecretMissing}, says: "CertificateRequest olmgate-system/b failed: no quota",
		},
		"nobody approved the request": {
			objects: []runtime.Object{good, notReady, requestObject("a", "1")},
			want:    []Reason{RequestNotApproved, CertificateNotReady, SecretMissing}, says: "waits for approval",
		},
		"the Secret has no key": {
			objects: []runtime.Object{good, notReady},
			spoil:   func(_ *testing.T, cm *fakeCertManager) { cm.write(map[string][]byte{corev1.TLSCertKey: []byte("x")}) },
			want:    []Reason{CertificateNotReady, SecretUnusable}, says: "has no usable tls.crt and tls.key",
		},
		"the certificate is for other names": {
			objects: []runtime.Object{good, notReady},
			spoil: func(t *testing.T, cm *fakeCertManager) {
				other, err := newAuthority(crand, start, []string{"other.svc"}, time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				ch, err := other.issue(crand, start, []string{"other.svc"}, time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				cert, key := pemOf(t, ch)
				cm.write(map[string][]byte{corev1.TLSCertKey: cert, corev1.TLSPrivateKeyKey: key, caKey: other.certPEM})
			},
			want: []Reason{CertificateNotReady, SecretUnusable}, says: "add olmgate-webhook.olmgate-system.svc to spec.dnsNames",
		},
		"the certificate has expired": {
			objects: []runtime.Object{good, notReady},
			spoil:   func(_ *testing.T, cm *fakeCertManager) { cm.rotate(); cm.clock.Step(100 * 24 * time.Hour) },
			want:    []Reason{CertificateNotReady, SecretUnusable}, says: "has a certificate that expired at",
		},
		"the certificate was not renewed": {
			objects: []runtime.Object{good, notReady},
			spoil:   func(_ *testing.T, cm *fakeCertManager) { cm.rotate(); cm.clock.Step(89 * 24 * time.Hour) },
			want:    []Reason{CertificateNotReady, RenewalOverdue, InjectionPending}, says: "was not renewed; see whether cert-manager runs",
		},
		"the issuer does not tell its CA": {
			spoil: func(_ *testing.T, cm *fakeCertManager) { cm.silent = true; cm.rotate() },
			want:  []Reason{AuthorityUnknown}, says: "has no ca.crt that its certificate verifies under",
		},
		"nothing is injected": {
			spoil: func(t *testing.T, cm *fakeCertManager) {
				config := configuration(t, cm.client)
				config.Annotations = nil
				update(t, cm.client, config)
				cm.rotate()
			},
			want: []Reason{InjectionMissing}, says: "annotate it with cert-manager.io/inject-ca-from-secret: olmgate-system/olmgate-trust",
		},
		"it is injected from the Certificate": {
			spoil: func(t *testing.T, cm *fakeCertManager) {
				config := configuration(t, cm.client)
				config.Annotations = map[string]string{"cert-manager.io/inject-ca-from": "olmgate-system/olmgate-webhook"}
				update(t, cm.client, config)
				cm.rotate()
			},
			want: []Reason{InjectionMissing}, says: "can drop a CA that is still in use",
		},
		"it is injected from another Secret": {
			spoil: func(t *testing.T, cm *fakeCertManager) {
				config := configuration(t, cm.client)
				config.Annotations = map[string]string{injectFromSecret: "a/b"}
				update(t, cm.client, config)
				cm.rotate()
			},
			want: []Reason{InjectionMissing}, says: "has its caBundle from Secret a/b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakeClock(start)
			cm := newFakeCertManager(t, cluster(interceptor.Funcs{}), clock, tc.objects...)
			if tc.fail != nil {
				cm.objects.PrependReactor("*", "*", func(k8stesting.Action) (bool, runtime.Object, error) { return true, nil, tc.fail })
			}
			if tc.spoil != nil {
				tc.spoil(t, cm)
			}
			s := cm.source()
			findings, err := s.Diagnose(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []Reason
			for _, f := range findings {
				got = append(got, f.Reason)
			}
			if len(got) != len(tc.want) {
				t.Fatalf("reasons %v, want %v", got, tc.want)
			}
			for i := range got {
				if got[i] != tc.want[i] {
					t.Errorf("reasons %v, want %v", got, tc.want)
				}
			}
			if text := asError(findings).Error(); !strings.Contains(text, tc.says) {
				t.Errorf("%s\ndoes not say: %s", text, tc.says)
			}
			// The same is told when it is to be served.
			if err := s.Reconcile(t.Context()); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("reconcile: %v", err)
			}
			if err := s.Ready(); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("ready: %v", err)
			}
		})
	}
}

func TestCertManagersObjectsAreMade(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	cm := newFakeCertManager(t, cluster(interceptor.Funcs{}), clock)
	cm.create = true
	applied := map[string]string{}
	cm.objects.PrependReactor("patch", "*", func(a k8stesting.Action) (bool, runtime.Object, error) {
		p := a.(k8stesting.PatchAction)
		text, err := yaml.JSONToYAML(p.GetPatch())
		applied[a.GetResource().Resource+"/"+p.GetName()] = string(text)
		return true, nil, err
	})
	s := cm.source()
	_ = s.Reconcile(t.Context())
	golden(t, "certmanager.yaml", applied)

	cm.rotate()
	_ = s.Reconcile(t.Context())
	cm.inject()
	reconcile(t, s)
	clear(applied)
	reconcile(t, s)
	if len(applied) > 0 {
		t.Errorf("they are applied again at once: %v", applied)
	}
	clock.Step(applyAgain)
	reconcile(t, s)
	if len(applied) != 4 {
		t.Errorf("%d are applied after a while", len(applied))
	}
}

// A replica that starts while cert-manager's objects cannot be applied has a good certificate in the Secret all the same.
func TestWhatWasIssuedIsServedThoughNothingCanBeMade(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	cm := newFakeCertManager(t, c, clock)
	cm.create = true
	tries := 0
	cm.objects.PrependReactor("patch", "issuers", func(k8stesting.Action) (bool, runtime.Object, error) {
		tries++
		return true, nil, apierrors.NewConflict(cmv1.Resource("issuers"), selfSignedName, errors.New("somebody else manages spec"))
	})
	s := cm.source()
	cm.rotate()
	for range 2 {
		if err := s.Reconcile(t.Context()); err == nil || !strings.Contains(err.Error(), "somebody else manages spec") {
			t.Errorf("error: %v", err)
		}
		cm.inject()
	}
	if tries != 2 {
		t.Errorf("applied %d times in 2 comparisons", tries)
	}
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
	if err := shake(t.Context(), s, cm.authority.certPEM, host, clock.Now()); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeMadeIsTold(t *testing.T) {
	for name, tc := range map[string]struct {
		fail error
		want string
	}{
		"cert-manager is not installed": {apierrors.NewGenericServerResponse(http.StatusNotFound, "patch", cmv1.Resource("issuers"), "x", "404 page not found", 0, true), "cert-manager is not installed"},
		"it is not allowed":             {apierrors.NewForbidden(cmv1.Resource("issuers"), selfSignedName, nil), "apply Issuer olmgate-system/olmgate-selfsigned"},
	} {
		t.Run(name, func(t *testing.T) {
			cm := newFakeCertManager(t, cluster(interceptor.Funcs{}), clocktesting.NewFakeClock(start))
			cm.create = true
			cm.objects.PrependReactor("patch", "*", func(k8stesting.Action) (bool, runtime.Object, error) { return true, nil, tc.fail })
			if err := cm.source().Reconcile(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestAReplicaThatIsNeverTrustedGivesUpWaiting(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	cm := newFakeCertManager(t, c, clock)
	setBundles(t, c, newTestAuthority(t, start).certPEM)
	cm.rotate()
	s := cm.source()
	_ = s.Reconcile(t.Context())
	clock.Step(patience)
	_ = s.Reconcile(t.Context())
	if s.Ready() == nil {
		t.Error("ready too early")
	}
	clock.Step(time.Second)
	_ = s.Reconcile(t.Context())
	if err := s.Ready(); err != nil || s.State().Trust != NotTrusted {
		t.Errorf("%v, %+v", err, s.State())
	}
}

func TestTheTrustOfTheWebhooksMustBeReadable(t *testing.T) {
	forbidden := errors.New("forbidden")
	c := cluster(interceptor.Funcs{})
	cm := newFakeCertManager(t, c, clocktesting.NewFakeClock(start))
	cm.rotate()
	cm.client = cluster(interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return forbidden
	}})
	s := cm.source()
	if err := s.Reconcile(t.Context()); !errors.Is(err, forbidden) || !strings.Contains(err.Error(), "allow get, list and watch of it") {
		t.Errorf("error: %v", err)
	}
	if _, err := s.Diagnose(t.Context()); !errors.Is(err, forbidden) {
		t.Errorf("diagnosis: %v", err)
	}
}
