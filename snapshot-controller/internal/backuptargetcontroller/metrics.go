package backuptargetcontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// The kinds of the objects.
const kindBackup, kindBackupVolume = "Backup", "BackupVolume"

var readings = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "drover_snapshot_controller_backup_target_readings_total",
	Help: "Readings of backup targets, by the reason of the condition Listed that they ended with.",
}, []string{"reason"})

var forgotten = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "drover_snapshot_controller_backup_objects_forgotten_total",
	Help: "Backups and BackupVolumes that were deleted because the target does not have them any more, by kind.",
}, []string{"kind"})

func init() { metrics.Registry.MustRegister(readings, forgotten) }
