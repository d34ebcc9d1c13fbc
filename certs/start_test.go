package certs

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// running starts a source and returns what ends it.
func running(t *testing.T, s Source) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Start(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// until calls check, which lets the fake time pass if there is any, until it is content.
func until(t *testing.T, what string, check func() bool) {
	t.Helper()
	for t.Context().Err() == nil {
		if check() {
			return
		}
		select {
		case <-t.Context().Done():
		case <-clock.RealClock{}.After(time.Millisecond):
		}
	}
	t.Fatal("not: " + what)
}

// TestAFightIsNotFoughtAtFullSpeed has somebody wipe caBundle as soon as it is written.
func TestAFightIsNotFoughtAtFullSpeed(t *testing.T) {
	fakeClock := clocktesting.NewFakeClock(start)
	var written atomic.Int64
	c := cluster(interceptor.Funcs{Patch: func(ctx context.Context, under client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
		if err := under.Patch(ctx, obj, patch, opts...); err != nil {
			return err
		}
		if _, ok := obj.(*admissionregistrationv1.ValidatingWebhookConfiguration); ok {
			written.Add(1)
			wiped := obj.DeepCopyObject().(*admissionregistrationv1.ValidatingWebhookConfiguration)
			for i := range wiped.Webhooks {
				wiped.Webhooks[i].ClientConfig.CABundle = nil
			}
			return under.Update(ctx, wiped)
		}
		return nil
	}})
	s := selfManaged(c, fakeClock)
	defer running(t, s)()
	const quick = 30 // seconds
	for begun := fakeClock.Now(); fakeClock.Since(begun) < quick*time.Second; {
		<-clock.RealClock{}.After(2 * time.Millisecond) // for the watch to bring what was changed
		fakeClock.Step(pause)
	}
	// 20 at once, then one in five seconds; a fight at full speed were ten a second.
	if n := written.Load(); n < 2 || n > 20+quick/5+2 {
		t.Errorf("caBundle was written %d times in %d s", n, quick)
	}
}

// TestWatchesHealAtOnce lets no interval end: the clock is a fake one that moves by less in all than one.
func TestWatchesHealAtOnce(t *testing.T) {
	fakeClock := clocktesting.NewFakeClock(start)
	c := cluster(interceptor.Funcs{})
	s := selfManaged(c, fakeClock)
	defer running(t, s)()
	ready := func() bool { return s.Ready() == nil }
	until(t, "it becomes ready", ready)
	tick := func() { fakeClock.Step(pause) }
	want := bundles(t, c)[0]
	// The watches must have begun: what changes before is not news.
	until(t, "the informers have listed", func() bool { tick(); return fakeClock.Now().Sub(start) > 10*pause })

	setBundles(t, c, nil)
	until(t, "a wiped caBundle is mended", func() bool { tick(); return bytes.Equal(bundles(t, c)[0], want) })
	if err := c.Delete(t.Context(), secret(t, c, "olmgate-ca")); err != nil {
		t.Fatal(err)
	}
	until(t, "a deleted Secret is put back", func() bool {
		tick()
		return c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "olmgate-ca"}, secretObject()) == nil
	})
}

func TestIntervalsFindWhatWatchesMiss(t *testing.T) {
	fakeClock := clocktesting.NewFakeClock(start)
	var compared atomic.Int32
	deaf := errors.New("no watches today")
	c := cluster(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if _, ok := obj.(*admissionregistrationv1.ValidatingWebhookConfiguration); ok {
				compared.Add(1)
			}
			return c.Get(ctx, key, obj, opts...)
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return deaf },
	})
	s := selfManaged(c, fakeClock)
	defer running(t, s)()
	until(t, "it compares", func() bool { return compared.Load() > 0 && s.Ready() == nil })
	before := compared.Load()
	until(t, "it compares again", func() bool { fakeClock.Step(DefaultInterval); return compared.Load() > before+2 })
}

// TestReplicasRunTogether is for the race detector, with real time and real concurrency.
func TestReplicasRunTogether(t *testing.T) {
	c := cluster(interceptor.Funcs{})
	replicas := make([]*SelfManaged, 3)
	for i := range replicas {
		replicas[i] = NewSelfManaged(SelfManagedOptions{Cluster: Cluster{Client: c, Log: silent, Settle: 300 * time.Millisecond}})
		defer running(t, replicas[i])()
	}
	everywhere := func(check func(*SelfManaged) bool) func() bool {
		return func() bool {
			for _, r := range replicas {
				if !check(r) {
					return false
				}
			}
			return true
		}
	}
	until(t, "all are ready", everywhere(func(r *SelfManaged) bool { return r.Ready() == nil }))

	// Handshakes all along, under the caBundle of the moment.
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	defer load.Wait()
	defer cancel()
	for _, r := range replicas {
		load.Go(func() {
			for ctx.Err() == nil {
				if _, err := r.GetCertificate(nil); err != nil {
					t.Error(err)
				}
				ch := r.current()
				if trusted := parseBundle(bundles(t, c)[0]); len(trusted) > 0 && ch.verify(trusted, host, time.Now()) != nil {
					t.Error("a certificate is served that the caBundle does not trust")
				}
			}
		})
	}
	for _, value := range []string{"1", "2"} {
		before := replicas[0].State().Changes
		until(t, "a rotation is asked for", func() bool {
			s := secret(t, c, "olmgate-ca")
			s.Annotations[RotateAnnotation] = value
			return c.Update(t.Context(), s) == nil
		})
		until(t, "all serve certificates of the new authority", everywhere(func(r *SelfManaged) bool { return r.State().Changes > before }))
	}
}

func TestAProblemIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	c := newCore(Cluster{Client: cluster(interceptor.Funcs{}), Log: slog.New(slog.NewTextHandler(&log, nil))})
	said := ""
	for _, err := range []error{errMissing, errMissing, errEmpty, nil, nil, errEmpty} {
		said = c.say(said, err)
	}
	if n, m := strings.Count(log.String(), "not in order"), strings.Count(log.String(), "in order again"); n != 3 || m != 1 {
		t.Errorf("%d problems and %d ends are told: %s", n, m, log.String())
	}
}
