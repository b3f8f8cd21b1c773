// Package leaselock holds a Kubernetes Lease so that a process that lost it, or was paused, does no harm:
//
//   - [Lock] renews a lease at half its duration and tries again at each retry after a failure; that of a standby watches the
//     lease. It releases a lease only while this process holds it, and reports a lost lease at once.
//   - [Fence] refuses API writes and data-plane calls once the start of the last successful renewal is too long ago on the monotonic
//     clock, whatever else the process believes. A paused process that continues is fenced before its first write.
//   - [Identity] names one run of a process, and recognises an earlier run that is proven dead, whose lease need not run out.
package leaselock
