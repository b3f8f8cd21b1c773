package ticketcontroller

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
)

var changes = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "drover_attach_controller_ticket_changes_total",
	Help: "Attachment tickets that were written or removed for the volume's own work or because their time was over, by type and why.",
}, []string{"attacher", "reason"})

func init() { metrics.Registry.MustRegister(changes) }

// attachers is the closed set of the label; other types are counted as one.
var attachers = []string{
	v1beta2.AttacherCSI, v1beta2.AttacherLonghornAPI, v1beta2.AttacherSnapshot, v1beta2.AttacherBackup, v1beta2.AttacherClone,
	v1beta2.AttacherSalvage, v1beta2.AttacherShareManager, v1beta2.AttacherRestore, v1beta2.AttacherEviction,
	v1beta2.AttacherExpansion, v1beta2.AttacherBackingImageData, v1beta2.AttacherRebuilding, v1beta2.AttacherLonghornUpgrader,
}

func count(c ticket.Change) {
	t := c.Ticket
	if t == nil {
		t = c.Before
	}
	attacher := t.Type
	if !slices.Contains(attachers, attacher) {
		attacher = "other"
	}
	changes.WithLabelValues(attacher, string(c.Why)).Inc()
}
