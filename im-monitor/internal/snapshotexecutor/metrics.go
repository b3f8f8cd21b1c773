package snapshotexecutor

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/shared/api/v1beta2"
)

// The operations of calls.
const (
	opTake   = "TakeSnapshot"
	opRemove = "RemoveSnapshots"
	opPurge  = "PurgeSnapshots"
)

// failures are the reasons of events, by what failed.
var failures = map[string]string{opTake: "SnapshotFailed", opRemove: "SnapshotRemovalFailed", opPurge: "SnapshotPurgeFailed"}

var (
	calls = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_snapshot_calls_total",
		Help: "Calls that change the snapshots of an engine, by what they ask for (TakeSnapshot, RemoveSnapshots, PurgeSnapshots) and " +
			"how they ended: ok, failed.",
	}, []string{"op", "result"})
	written = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_snapshot_conditions_total",
		Help: "Conditions of Snapshots that were written, by type (Provisioned, RemovalFailed, Withdrawn) and reason.",
	}, []string{"type", "reason"})
	mirrored = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "drover_im_monitor_snapshots_mirrored_total",
		Help: "Snapshot objects that were created for snapshots of engines that had none.",
	})
)

func init() {
	metrics.Registry.MustRegister(calls, written, mirrored)
	// whose growth an alert watches
	for _, reason := range []string{v1beta2.ReasonRefused, v1beta2.ReasonUnreachable, v1beta2.ReasonPurgeFailed} {
		written.WithLabelValues(v1beta2.SnapshotRemovalFailed, reason)
	}
}
