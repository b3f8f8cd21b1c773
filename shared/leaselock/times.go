package leaselock

import "time"

// Times are how long a lease lasts, and how often it is tried to get or renew it.
type Times struct{ LeaseDuration, RetryPeriod time.Duration }

// RenewInterval is the time between two renewals.
func (t Times) RenewInterval() time.Duration { return t.LeaseDuration / 2 }

// ElectorDeadline is for how long a renewal that is due is tried. An attempt may begin, and be noticed to fail, a retry later: the process
// stops leading before its lease can have another holder.
func (t Times) ElectorDeadline() time.Duration {
	return t.LeaseDuration - t.RenewInterval() - t.RetryPeriod*3/2
}

// RequestTimeout is how long one request of the lease may take: a hung one must not cost the lease.
func (t Times) RequestTimeout() time.Duration { return max(t.ElectorDeadline()/2, time.Second) }
