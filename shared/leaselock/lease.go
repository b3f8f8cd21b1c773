package leaselock

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
)

// Lease names a lease in a cluster, and which process wants to hold it.
type Lease struct {
	Namespace, Name string
	Identity        *Identity
	Times           Times
	// Labels are on the lease while this process holds it, and stay until another holder has others; nil: none are written.
	Labels map[string]string
}

// Prepare returns the lock on a lease. Its requests go by a copy of the configuration, which must not pass a fence, and end in time for the
// next try. lost is that of Options.
func (l Lease) Prepare(config *rest.Config, fence *Fence, lost func(error)) (*Lock, error) {
	watching, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building the client that watches the lease %s: %w", l.Name, err)
	}
	config = rest.CopyConfig(config)
	config.Timeout = l.Times.RequestTimeout()
	clients, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building the client of the lease %s: %w", l.Name, err)
	}
	lease := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name}, Client: clients,
		LockConfig: resourcelock.ResourceLockConfig{Identity: l.Identity.Name}, Labels: l.Labels}
	return New(lease, Options{Interval: l.Times.RenewInterval(), Rests: true, Duration: l.Times.LeaseDuration, Retry: l.Times.RetryPeriod,
		Fence: fence, Clock: clock.RealClock{}, Dead: l.Identity.Dead, Lost: lost,
		Watch: func(ctx context.Context) (watch.Interface, error) {
			only := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, l.Name).String()}
			return watching.Leases(l.Namespace).Watch(ctx, only)
		}}), nil
}
