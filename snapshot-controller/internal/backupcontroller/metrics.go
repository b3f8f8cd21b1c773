package backupcontroller

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var verdicts = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "drover_snapshot_controller_backup_verdicts_total",
	Help: "Verdicts about Backups that were written, by what was written and why.",
}, []string{"step", "reason"})

var stalledBackups = prometheus.NewGauge(prometheus.GaugeOpts{
	Name: "drover_snapshot_controller_backups_stalled",
	Help: "Backups that engines copy without having reported any progress for hours.",
})

var removed = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "drover_snapshot_controller_backups_removed_total",
	Help: "Backups whose data was removed from its target, or was not there any more, because the object was deleted.",
})

func init() { metrics.Registry.MustRegister(verdicts, stalledBackups, removed) }

// stalls counts the Backups that make no progress, for the gauge. It needs no list: every Backup is evaluated when the process begins.
type stalls struct {
	mu    sync.Mutex
	names map[string]bool
}

// note records whether a Backup makes no progress.
func (s *stalls) note(name string, stalled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = map[string]bool{}
	}
	if delete(s.names, name); stalled {
		s.names[name] = true
	}
	stalledBackups.Set(float64(len(s.names)))
}
