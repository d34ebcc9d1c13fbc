package status

import (
	"context"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordination "k8s.io/client-go/applyconfigurations/coordination/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// LeaseName is the name of the Lease that the leader among status writers holds.
const LeaseName = "olmgate-status-writer"

// lease is the usual lock, but for how it is made: by server-side apply, where the authorizer knows the name, so that
// RBAC can limit it to this one Lease.
type lease struct {
	*resourcelock.LeaseLock
}

// NewLock returns the lock that decides which replica writes. A request may take half of the time in which the Lease has to
// be renewed, so that one that hangs does not lose it.
func NewLock(kube *rest.Config, namespace string, renewDeadline time.Duration) (resourcelock.Interface, error) {
	config := rest.AddUserAgent(rest.CopyConfig(kube), "leader-election")
	config.Timeout = renewDeadline / 2
	client, err := coordinationv1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("setting up the client for the Lease: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("finding a name for this replica: %w", err)
	}
	return lease{&resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: LeaseName, Namespace: namespace},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
	}}, nil
}

// Create makes the Lease, and fills it in with an update, which one of several replicas wins.
func (l lease) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	empty := coordination.Lease(l.LeaseMeta.Name, l.LeaseMeta.Namespace)
	if _, err := l.Client.Leases(l.LeaseMeta.Namespace).Apply(ctx, empty, metav1.ApplyOptions{FieldManager: FieldManager}); err != nil {
		return fmt.Errorf("making the Lease %s: %w", l.Describe(), err)
	}
	held, _, err := l.Get(ctx)
	if err != nil {
		return err
	}
	if held.HolderIdentity != "" {
		return fmt.Errorf("the Lease %s was taken by %s", l.Describe(), held.HolderIdentity)
	}
	return l.Update(ctx, record)
}
