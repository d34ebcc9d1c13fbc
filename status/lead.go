package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Leader runs Writers, one manager after the other: when the lease is lost, or the manager fails, only that manager ends,
// and the next one waits for the lease. It is a runnable of a manager that does other things, which go on meanwhile.
type Leader struct {
	Kube   *rest.Config
	Scheme *runtime.Scheme
	// Namespace of the Lease.
	Namespace string
	// Options of each Writer.
	Options Options
	// LeaseDuration, RenewDeadline and RetryPeriod of the election; 0 for the usual ones: 15 s, 10 s and 2 s.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

var _ manager.LeaderElectionRunnable = (*Leader)(nil)

// NeedLeaderElection is false: the managers it runs elect.
func (*Leader) NeedLeaderElection() bool { return false }

// The usual times of an election.
const (
	defaultLeaseDuration = 15 * time.Second
	defaultRenewDeadline = 10 * time.Second
	defaultRetryPeriod   = 2 * time.Second
)

// restartMax bounds the wait before the next manager.
const restartMax = 30 * time.Second

// Start runs managers until the context ends.
func (l *Leader) Start(ctx context.Context) error {
	log := l.Options.Log
	if log == nil {
		log = slog.Default()
	}
	for failures := 0; ; {
		begun := time.Now()
		err := l.lead(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the end was asked for
		}
		if time.Since(begun) > 5*time.Minute {
			failures = 0
		}
		failures++
		wait := backoff(failures, restartMax)
		log.Warn("the status writer ended and is started again", "error", err, "in", wait.String())
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// lead runs one manager until it ends.
func (l *Leader) lead(ctx context.Context) error {
	writer, err := NewWriter(l.Options)
	if err != nil {
		return err
	}
	lock, err := NewLock(l.Kube, l.Namespace, cmp.Or(l.RenewDeadline, defaultRenewDeadline))
	if err != nil {
		return err
	}
	options := ctrl.Options{
		Scheme:                              l.Scheme,
		Cache:                               CacheOptions(),
		Metrics:                             server.Options{BindAddress: "0"},
		HealthProbeBindAddress:              "0",
		Logger:                              logr.FromSlogHandler(writer.Log.Handler()),
		LeaderElection:                      true,
		LeaderElectionID:                    LeaseName,
		LeaderElectionNamespace:             l.Namespace,
		LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel:       true,
		LeaseDuration:                       new(cmp.Or(l.LeaseDuration, defaultLeaseDuration)),
		RenewDeadline:                       new(cmp.Or(l.RenewDeadline, defaultRenewDeadline)),
		RetryPeriod:                         new(cmp.Or(l.RetryPeriod, defaultRetryPeriod)),
	}
	mgr, err := ctrl.NewManager(l.Kube, options)
	if err != nil {
		return fmt.Errorf("setting up the manager of the status writer: %w", err)
	}
	if err := writer.SetupWithManager(mgr); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("writing status: %w", err)
	}
	return errors.New("the manager ended")
}
