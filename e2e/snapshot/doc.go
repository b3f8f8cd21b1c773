// Package snapshot runs the scenarios S1 to S11 on a real API server: snapshot-controller, attach-controller, im-monitor and
// orphan-controller as processes of their own under their own Roles, and the simulator as the data plane. The snapshots
// that were taken and removed are counted in the simulator's journal.
package snapshot
