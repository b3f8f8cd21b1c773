package machinecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// A8.
func TestAnEngineThatFailsOverHealthyReplicasIsStartedAgainAfterAPause(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		p := w.start()
		v := w.attached(dataEngine, "node-3")
		w.plane.change(func(p *plane) { p.broken[vol+"-e-0"] = true })
		w.robustness(v, v1beta2.VolumeRobustnessFaulted)
		said := w.says(v, v1beta2.VolumeFaulted, v1beta2.ReasonFaulted)
		w.quiet(p)
		w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
		w.wanted(v, "")
		w.reaches(v, v1beta2.VolumeStateDetached, "")
		w.plane.change(func(p *plane) { p.broken = map[string]bool{} })
		found := w.robustness(v, v1beta2.VolumeRobustnessUnknown)
		require.NotEmpty(t, found.Status.RemountRequestedAt)
		require.Empty(t, found.Status.LastAutoSalvagedAt)
		w.says(v, v1beta2.VolumeFaulted, v1beta2.ReasonUsable)
		w.wanted(v, "node-3")
		w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
		w.robustness(v, v1beta2.VolumeRobustnessHealthy)
		w.once("Faulted")
		require.NotEmpty(t, said.Message)
	})
}

// allFailed fails every replica as it starts, and leaves the volume detached and faulted.
func (w *world) allFailed() *v1beta2.Volume {
	w.t.Helper()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	w.wanted(v, "")
	w.reaches(v, v1beta2.VolumeStateDetached, "")
	for _, name := range []string{"r-1", "r-2"} {
		w.spec(&v1beta2.Replica{ObjectMeta: w.meta(name)},
			map[string]any{"failedAt": "2026-09-01T00:00:00Z", "lastFailedAt": "2026-09-01T00:00:00Z"})
	}
	return v
}

// A8: what failed last has the newest data.
func TestAVolumeWhoseReplicasAllFailedContinuesFromThoseThatFailedLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	w.plane.change(func(p *plane) { p.modes["r-1"] = v1beta2.ReplicaModeERR })
	w.theReplica("r-1", "failed", isFailed)
	w.wanted(v, "")
	w.reaches(v, v1beta2.VolumeStateDetached, "")
	w.plane.change(func(p *plane) { p.modes = map[string]string{} })
	w.spec(&v1beta2.Replica{ObjectMeta: w.meta("r-2")},
		map[string]any{"failedAt": "2099-09-01T00:00:00Z", "lastFailedAt": "2099-09-01T00:00:00Z"})
	w.theReplica("r-2", "taken", func(r *v1beta2.Replica) bool { return r.Spec.FailedAt == "" && r.Spec.SalvageRequested })
	found := w.is(v, "salvaged", func(v *v1beta2.Volume) bool { return v.Status.LastAutoSalvagedAt != "" })
	require.Equal(t, v1beta2.VolumeRobustnessUnknown, found.Status.Robustness)
	require.NotEmpty(t, found.Status.RemountRequestedAt)
	w.theReplica("r-1", "left", isFailed)
	w.wanted(v, "node-3")
	w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
	e := w.engine(vol+"-e-0", "r-2 alone", mapped("r-2"))
	require.True(t, e.Spec.SalvageRequested)
	w.theReplica("r-2", "used", func(r *v1beta2.Replica) bool { return !r.Spec.SalvageRequested })
	w.robustness(v, v1beta2.VolumeRobustnessDegraded)
	w.once("Faulted", "AutoSalvaged")
}

// A8: with nothing to continue from it reports that, and stops trying.
func TestWithoutAutoSalvageAPersonChooses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(&v1beta2.Setting{ObjectMeta: w.meta("auto-salvage"), Value: "false"})
	p := w.start()
	v := w.allFailed()
	w.robustness(v, v1beta2.VolumeRobustnessFaulted)
	said := w.says(v, v1beta2.VolumeAttached, v1beta2.ReasonNoUsableReplica)
	require.Contains(t, said.Message, "auto-salvage")
	w.quiet(p)
	w.spec(&v1beta2.Replica{ObjectMeta: w.meta("r-2")}, map[string]any{"failedAt": ""})
	w.robustness(v, v1beta2.VolumeRobustnessUnknown)
	w.wanted(v, "node-3")
	w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
}

// The volume leaves its node while a pod there still wants it, as when a user elsewhere gets it from a node that is down.
func TestUsersWhoLoseTheirVolumeGetNewMounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	w.create(&v1beta2.VolumeAttachment{ObjectMeta: w.meta(v.Name), Spec: v1beta2.VolumeAttachmentSpec{Volume: v.Name,
		AttachmentTickets: map[string]v1beta2.AttachmentTicket{"csi-1": {ID: "csi-1", Type: v1beta2.AttacherCSI, NodeID: "node-3",
			Parameters: map[string]string{v1beta2.TicketDisableFrontend: v1beta2.TicketValueFalse}}}}})
	w.wanted(v, "")
	found := w.reaches(v, v1beta2.VolumeStateDetached, "")
	require.NotEmpty(t, found.Status.RemountRequestedAt)
}
