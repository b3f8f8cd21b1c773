package attach

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestAVolumeIsTakenBack(t *testing.T) {
	snapshot := ticket("s", v1beta2.AttacherSnapshot, here, v1beta2.TicketDisableFrontend, v1beta2.TicketValueAny)
	checkRows(t, map[string]rowCase{
		"a volume that is being deleted has no holder": {
			basic(attached(here), pod(here), volume(func(v *Volume) { v.Deleting, v.MigrationNodeID = true, there })), RowDeleting, Spec{},
		},
		"a volume that is being deleted is not given to another node": {
			basic(pod(here), volume(func(v *Volume) { v.Deleting = true })), RowDeleting, Spec{},
		},
		"D1: no replica can be used": {basic(attached(here), pod(here), faulted), RowFaulted, Spec{}},
		"D1: while it is attached": {basic(wanted(here), pod(here), faulted, state(v1beta2.VolumeStateAttaching)), RowFaulted,
			Spec{}},
		"D1: while it migrates, on both nodes":  {moving(running, faulted), RowFaulted, Spec{}},
		"D1: while the migration is confirmed":  {confirming(faulted), RowFaulted, Spec{}},
		"D1 keeps the frontend for the salvage": {basic(attached(here), frontendOff, faulted), RowFaulted, Spec{DisableFrontend: true}},
		"D3: no ticket wants it":                {basic(attached(here)), RowUnwanted, Spec{}},
		"D3: only another node wants it":        {basic(attached(here), pod(there)), RowUnwanted, Spec{}},
		"D3: only with the other frontend": {
			basic(attached(here), frontendOff, pod(here)), RowUnwanted, Spec{DisableFrontend: true},
		},
		"D3: a pod's ticket does not keep a shared volume": {basic(attached(here), shared, pod(here)), RowUnwanted, Spec{}},
		"D3: the node went down before the volume came":    {basic(wanted(here), pod(here), down(here)), RowUnwanted, Spec{}},
		"D3: the node was removed before the volume came":  {basic(wanted(gone), pod(gone)), RowUnwanted, Spec{}},
		"D3: the upgrade of the node began before the engine could start": {basic(wanted(here), pod(here), node(here, Node{Upgrading: true}),
			state(v1beta2.VolumeStateAttaching), waitsForUpgrade), RowUnwanted, Spec{}},
		"not while the engine may start": {basic(wanted(here), pod(here), node(here, Node{Upgrading: true}),
			state(v1beta2.VolumeStateAttaching)), RowKeep, Spec{NodeID: here}},
		"not after the upgrade": {basic(wanted(here), pod(here), state(v1beta2.VolumeStateAttaching), waitsForUpgrade), RowKeep,
			Spec{NodeID: here}},
		"not where it is attached": {basic(attached(here), pod(here), node(here, Node{Upgrading: true}), waitsForUpgrade), RowKeep,
			Spec{NodeID: here}},
		"D4: the node is down and a pod wants another": {
			basic(attached(here), pod(here), pod(there), down(here)), RowDown, Spec{},
		},
		"D4: the node is gone and a person wants another": {
			basic(attached(gone), pod(gone), ticket("a", v1beta2.AttacherLonghornAPI, there)), RowDown, Spec{},
		},
		"D3: a restore wants another, and the pod waits for the data": {basic(attached(here), frontendOff, waitsForData, pod(here), down(here),
			ticket("r", v1beta2.AttacherRestore, there, offFrontend()...)), RowUnwanted, Spec{DisableFrontend: true}},
		"D4: an expansion wants another, and only background work holds it": {basic(attached(here), snapshot, down(here),
			ticket("e", v1beta2.AttacherExpansion, there)), RowDown, Spec{}},
		"D4: even from a restore": {basic(attached(here), down(here), ticket("r", v1beta2.AttacherRestore, here), pod(there)), RowDown,
			Spec{}},
		"D4: on its way to a node that is not ready, and a pod wants one that is": {
			basic(wanted(here), pod(here), pod(there), node(here, Node{NotReady: true}), state(v1beta2.VolumeStateAttaching)), RowDown,
			Spec{},
		},
		"D5: a pod elsewhere": {basic(attached(here), snapshot, pod(there)), RowInterrupt, Spec{}},
		"D5: an expansion elsewhere": {basic(attached(here), snapshot, ticket("e", v1beta2.AttacherExpansion, there)),
			RowInterrupt, Spec{}},
		"D5: a share elsewhere": {basic(attached(here), shared, snapshot, ticket("m", v1beta2.AttacherShareManager, there)),
			RowInterrupt, Spec{}},
		"D5: a person here without frontend": {basic(attached(here), snapshot,
			ticket("a", v1beta2.AttacherLonghornAPI, here, offFrontend()...)), RowInterrupt, Spec{}},
		"D5: every kind of background yields": {basic(attached(here), background(here), pod(there)), RowInterrupt, Spec{}},
		"D5: not for a node that is not ready: the snapshot's would be chosen again": {
			basic(attached(here), snapshot, pod(there), node(there, Node{NotReady: true})), RowKeep, Spec{NodeID: here}},
		"D5: of two nodes that are not ready the pod's": {
			basic(attached(here), snapshot, pod(there), node(here, Node{NotReady: true}), node(there, Node{NotReady: true})), RowInterrupt,
			Spec{}},
	})
}

func waitsForUpgrade(w *World) { w.Volume.Upgrading = true }

func background(node string) change {
	return func(w *World) {
		for _, attacher := range attachers {
			if Background(attacher) {
				ticket(attacher, attacher, node)(w)
			}
		}
	}
}

func TestAVolumeStaysWithItsHolder(t *testing.T) {
	at := Spec{NodeID: here}
	snapshot := ticket("s", v1beta2.AttacherSnapshot, here)
	checkRows(t, map[string]rowCase{
		"D6: its ticket is there":                  {basic(attached(here), pod(here)), RowKeep, at},
		"D6: its ticket could not be served today": {basic(attached(here), pod(here), node(here, Node{Upgrading: true})), RowKeep, at},
		"D6: a person's node was cordoned meanwhile": {basic(attached(here), ticket("a", v1beta2.AttacherLonghornAPI, here),
			node(here, Node{Cordoned: true})), RowKeep, at},
		"D6: the node is down and no ticket wants another": {basic(attached(here), pod(here), down(here)), RowKeep, at},
		"D6: the node is down and only background work wants another": {
			basic(attached(here), pod(here), down(here), ticket("s", v1beta2.AttacherSnapshot, there)), RowKeep, at,
		},
		"D6: the node is down, and so is the other": {basic(attached(here), pod(here), pod(there), down(here), down(there)),
			RowKeep, at},
		"D6: the node is down and an expansion wants another: the pod may be back in a moment": {
			basic(attached(here), pod(here), down(here), ticket("e", v1beta2.AttacherExpansion, there,
				v1beta2.TicketDisableFrontend, v1beta2.TicketValueAny)), RowKeep, at,
		},
		"D6: the node is down and a restore wants another": {
			basic(attached(here), pod(here), down(here), ticket("r", v1beta2.AttacherRestore, there, offFrontend()...)), RowKeep, at,
		},
		"D6: a person's node is gone and an expansion wants another": {basic(attached(gone), ticket("a", v1beta2.AttacherLonghornAPI, gone),
			ticket("e", v1beta2.AttacherExpansion, there)), RowKeep, Spec{NodeID: gone}},
		"D6: on its way to a pod's node that is not ready, and an expansion wants one that is": {
			basic(wanted(here), pod(here), ticket("e", v1beta2.AttacherExpansion, there), node(here, Node{NotReady: true}),
				state(v1beta2.VolumeStateAttaching)), RowKeep, at,
		},
		"D6: attached to a node that is not ready": {basic(attached(here), pod(here), pod(there),
			node(here, Node{NotReady: true})), RowKeep, at},
		"D6: on its way to a node that is not ready, as the other": {basic(wanted(here), pod(here), pod(there),
			node(here, Node{NotReady: true}), node(there, Node{NotReady: true})), RowKeep, at},
		"D6: workload is not taken from workload": {basic(attached(here), pod(here),
			ticket("a", v1beta2.AttacherLonghornAPI, there)), RowKeep, at},
		"D6: not even by data": {basic(attached(here), pod(here),
			ticket("r", v1beta2.AttacherRestore, there)), RowKeep, at},
		"D6: background is not taken by background": {basic(attached(here), snapshot,
			ticket("b", v1beta2.AttacherBackup, there)), RowKeep, at},
		"D6: background beside a pod is safe": {basic(attached(here), snapshot, pod(here),
			ticket("a", v1beta2.AttacherLonghornAPI, there)), RowKeep, at},
		"D6: a clone is no background": {basic(attached(here), ticket("c", v1beta2.AttacherClone, here),
			pod(there)), RowKeep, at},
		"D6: nor is an unknown kind": {basic(attached(here), ticket("c", "unheard", here), pod(there)),
			RowKeep, at},
		"D6: a pod that could not be served interrupts nothing": {
			basic(attached(here), snapshot, pod(there), node(there, Node{Upgrading: true})), RowKeep, at,
		},
		"D6: the pod of a shared volume interrupts nothing": {
			basic(attached(here), shared, ticket("s", v1beta2.AttacherSnapshot, here), pod(there)), RowKeep, at,
		},
		"D6: a pod here that can share the frontend joins": {basic(attached(here), snapshot, pod(here)), RowKeep, at},
		"D6: while it comes up": {basic(wanted(here), pod(here), state(v1beta2.VolumeStateAttaching)), RowKeep,
			at},
		"D6: while it leaves by itself, to come again": {basic(wanted(here), pod(here), state(v1beta2.VolumeStateDetaching)), RowKeep,
			at},
	})
}

// A1: whoever was first keeps the volume; the other gets it afterwards, and both had it in the end.
func TestAnInterruptedSnapshotGetsTheVolumeAfterThePod(t *testing.T) {
	w := basic(attached(here), ticket("s", v1beta2.AttacherSnapshot, here), pod(there))
	w = settled(w)
	require.Empty(t, w.Volume.NodeID, "the snapshot gives way")
	w = settled(with(w, volume(func(v *Volume) { v.State, v.CurrentNodeID = v1beta2.VolumeStateDetached, "" })))
	require.Equal(t, there, w.Volume.NodeID, "the pod comes first")
	w = settled(with(w, attached(there), withdrawn("csi-"+there)))
	require.Empty(t, w.Volume.NodeID)
	w = settled(with(w, volume(func(v *Volume) { v.State, v.CurrentNodeID = v1beta2.VolumeStateDetached, "" })))
	require.Equal(t, here, w.Volume.NodeID, "then the snapshot")
}

func waitsForData(w *World) { w.Volume.Unfilled = true }
