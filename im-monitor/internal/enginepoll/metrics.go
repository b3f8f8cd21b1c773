package enginepoll

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
	polls = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_engine_looks_total",
		Help: "Polls of running engines, by result: seen, incomplete (some questions were not answered), failed.",
	}, []string{"result"})
	engineCalls = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_engine_calls_total",
		Help: "Calls that change an engine, by what they ask for (add, remove, expand, clone, restore, revert, purge, set-…) " +
			"and how they ended: ok, failed.",
	}, []string{"op", "result"})
	stranded = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "drover_im_monitor_rebuilds_stranded_total",
		Help: "Replicas that stayed write-only after their rebuild had ended, because its caller was gone, and that are rebuilt again.",
	})
	snapshotCalls = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_snapshot_calls_total",
		Help: "Calls that change the snapshots of an engine, by what they ask for (TakeSnapshot, RemoveSnapshots, PurgeSnapshots) and " +
			"how they ended: ok, failed.",
	}, []string{"op", "result"})
	snapshotConditions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_snapshot_conditions_total",
		Help: "Conditions of Snapshots that were written, by type (Provisioned, RemovalFailed, Withdrawn) and reason.",
	}, []string{"type", "reason"})
	snapshotsMirrored = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "drover_im_monitor_snapshots_mirrored_total",
		Help: "Snapshot objects that were created for snapshots of engines that had none.",
	})
	backupCalls = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_backup_calls_total",
		Help: "Backups that were requested from engines, by the result of the call: ok, failed, unanswered.",
	}, []string{"result"})
	backupEnds = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_backups_ended_total",
		Help: "Backups that ended, by their state: Completed, Error.",
	}, []string{"state"})
)

func init() {
	metrics.Registry.MustRegister(polls, engineCalls, stranded, snapshotCalls, snapshotConditions, snapshotsMirrored, backupCalls, backupEnds)
	// An alert does not see the first events of a counter that appears with them.
	polls.WithLabelValues("failed")
	polls.WithLabelValues("incomplete")
	engineCalls.WithLabelValues("add", "failed")
	for _, reason := range []string{v1beta2.ReasonRefused, v1beta2.ReasonUnreachable, v1beta2.ReasonPurgeFailed} {
		snapshotConditions.WithLabelValues(v1beta2.SnapshotRemovalFailed, reason)
	}
	backupEnds.WithLabelValues(v1beta2.BackupError)
}
