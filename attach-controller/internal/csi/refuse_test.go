package csi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// refusals are the worlds that are refused, with the words that the message must contain.
var refusals = map[string]struct {
	change func(*World)
	says   []string
}{
	"an inline volume": {func(w *World) { w.Attachment.PersistentVolume, w.PersistentVolume = "", nil },
		[]string{"inline"}},
	"no PersistentVolume": {func(w *World) { w.PersistentVolume = nil }, []string{"pv-1", "does not exist"}},
	"a PersistentVolume of another driver": {func(w *World) { w.PersistentVolume.Driver = "other" },
		[]string{"pv-1", `"other"`, Driver}},
	"a PersistentVolume without handle": {func(w *World) { w.PersistentVolume.Handle = "" }, []string{"pv-1"}},
	"a PersistentVolume that is being deleted": {func(w *World) { w.PersistentVolume.Deleting = true },
		[]string{"pv-1", "vol-1", "deleted"}},
	"no volume":                      {func(w *World) { w.Volume, w.Tickets = nil, nil }, []string{"vol-1", "does not exist", "pv-1"}},
	"a volume that is being deleted": {func(w *World) { w.Volume.Deleting = true }, []string{"vol-1", "deleted"}},
	"tickets that are being deleted": {func(w *World) { w.Tickets.Deleting = true }, []string{"vol-1", "deleted"}},
	"many nodes for a volume of one": {func(w *World) { w.PersistentVolume.ManyNodes = true },
		[]string{"vol-1", "rwo", "spec.accessMode", "rwx"}},
	"a frontend that no pod can mount": {func(w *World) { w.Volume.Frontend = "iscsi" }, []string{"vol-1", "iscsi", "blockdev"}},
	"an NVMe-oF frontend":              {func(w *World) { w.Volume.Frontend = "nvmf" }, []string{"vol-1", "nvmf"}},
	"a disaster-recovery copy":         {func(w *World) { w.Volume.Standby = true }, []string{"vol-1", "activate"}},
	"a restore under way":              {func(w *World) { w.Volume.Restoring = true }, []string{"vol-1", "restored"}},
	"a restore that failed": {func(w *World) { w.Volume.Restoring, w.Volume.Fault = true, "No such backup." },
		[]string{"vol-1", "could not be restored", "No such backup."}},
	"a clone under way":   {func(w *World) { w.Volume.Cloning = "initiated" }, []string{"vol-1", "initiated"}},
	"a clone that failed": {func(w *World) { w.Volume.Cloning = "failed" }, []string{"vol-1", "failed", "create it again"}},
	"a faulted volume": {func(w *World) { w.Volume.Robustness = v1beta2.VolumeRobustnessFaulted },
		[]string{"vol-1", "faulted", "salvage"}},
	"no Kubernetes node":              {func(w *World) { w.Host = nil }, []string{"vol-1", here, "does not exist"}},
	"a node out of service":           {func(w *World) { w.Host.OutOfService = true }, []string{"vol-1", here, "out-of-service"}},
	"a driver that is not registered": {func(w *World) { w.DriverNodeID = "" }, []string{"vol-1", here, "CSINode", "longhorn-csi-plugin"}},
	"no Longhorn node":                {func(w *World) { w.Node = nil }, []string{"vol-1", here, "Longhorn Node"}},
	"a node that is down":             {func(w *World) { w.Node.Down = true }, []string{"vol-1", here, "down"}},
}

func TestARefusalWritesNoTicketAndNamesVolumeReasonAndNextStep(t *testing.T) {
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			w := with(asked(), c.change)
			verdict := Decide(w)
			require.Len(t, verdict.Steps, 1)
			said := verdict.Steps[0].Status.AttachError
			require.Equal(t, Verdict{Outcome: OutcomeRefused, Steps: []Step{statusStep(Status{AttachError: said})}}, verdict)
			for _, word := range c.says {
				require.Contains(t, said, word)
			}
			require.Equal(t, Verdict{Outcome: OutcomeRefused}, Decide(after(w, verdict)), "the same is not reported twice")
		})
	}
}

func TestAFaultedVolumeThatRunsIsNotRefused(t *testing.T) {
	w := with(asked(), func(w *World) {
		w.Volume.Robustness, w.Volume.State = v1beta2.VolumeRobustnessFaulted, v1beta2.VolumeStateAttached
	})
	require.Equal(t, OutcomeAttaching, Decide(w).Outcome)
}

func TestTheNotedNodeIDServesWhereTheDriverIsNotRegistered(t *testing.T) {
	w := with(asked(), func(w *World) { w.DriverNodeID, w.Attachment.NodeID = "", here })
	require.Equal(t, OutcomeAttaching, Decide(w).Outcome)
	require.Equal(t, here, Decide(w).Steps[0].NodeID)
}

func TestANewNodeIDIsNotedUntilTheVolumeIsAttached(t *testing.T) {
	renamed := with(ticketed(), func(w *World) { w.DriverNodeID = there })
	require.Equal(t, StepMark, Decide(renamed).Steps[0].Kind)
	require.Equal(t, there, Decide(renamed).Steps[0].NodeID)
	require.Empty(t, Decide(with(attached(), func(w *World) { w.DriverNodeID = there })).Steps)
}
