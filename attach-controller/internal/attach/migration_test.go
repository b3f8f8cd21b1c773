package attach

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestAMigrationBegins(t *testing.T) {
	onWantedNode := func(changes ...change) World {
		return basic(append([]change{migratable, attached(here), pod(here), pod(there)}, changes...)...)
	}
	at, both := Spec{NodeID: here}, Spec{NodeID: here, MigrationNodeID: there}
	checkRows(t, map[string]rowCase{
		"M1: a second pod of an attached volume": {onWantedNode(), RowMigrate, both},
		"M1: the first of several, in order":     {onWantedNode(pod(third)), RowMigrate, both},
		"M1: the first that can be served": {onWantedNode(pod(third), down(there)), RowMigrate,
			Spec{NodeID: here, MigrationNodeID: third}},
		"M1: from a node that is being upgraded": {onWantedNode(node(here, Node{Upgrading: true})), RowMigrate, both},
		"M2: the source is down: a plain move":   {onWantedNode(down(here)), RowDown, Spec{}},
		"not while its target is on another node": {onWantedNode(node(here, Node{Upgrading: true}), volume(func(v *Volume) {
			v.Relocated = true
		})), RowKeep, at},
		"not a volume that cannot migrate": {onWantedNode(volume(func(v *Volume) { v.Migratable = false })), RowKeep, at},
		"not one that is coming up": {onWantedNode(volume(func(v *Volume) { v.State = v1beta2.VolumeStateAttaching })),
			RowKeep, at},
		"not one that is leaving": {onWantedNode(volume(func(v *Volume) { v.State = v1beta2.VolumeStateDetaching })),
			RowKeep, at},
		"not one that still rolls another back": {onWantedNode(volume(func(v *Volume) { v.CurrentMigrationNodeID = third })), RowKeep,
			at},
		"not while the frontend is off": {
			onWantedNode(ticket("a", v1beta2.AttacherLonghornAPI, here, offFrontend()...), frontendOff), RowKeep,
			Spec{NodeID: here, DisableFrontend: true},
		},
		"not until the frontend is on":    {onWantedNode(volume(func(v *Volume) { v.FrontendDisabled = true })), RowKeep, at},
		"not to a node that is down":      {onWantedNode(down(there)), RowKeep, at},
		"not to a node that is not ready": {onWantedNode(node(there, Node{NotReady: true})), RowKeep, at},
		"to another node that is ready": {onWantedNode(pod(third), node(there, Node{NotReady: true})), RowMigrate,
			Spec{NodeID: here, MigrationNodeID: third}},
		"not for a person's ticket": {onWantedNode(withdrawn("csi-"+there), ticket("a", v1beta2.AttacherLonghornAPI, there)),
			RowKeep, at},
		"not from a person's ticket": {onWantedNode(withdrawn("csi-"+here), ticket("a", v1beta2.AttacherLonghornAPI, here)), RowKeep,
			at},
	})
}

func TestAPodReportsThatItsMigrationWaitsForItsNode(t *testing.T) {
	w := basic(migratable, attached(here), pod(here), pod(there), engine(here, v1beta2.InstanceStateRunning),
		node(there, Node{NotReady: true}))
	_, reason, message := reported(w, "csi-"+there)
	require.Equal(t, v1beta2.ReasonNodeNotReady, reason)
	require.Contains(t, message, "Node "+there+" is not ready, see its condition Ready")
}

func TestAPodReportsThatItsMigrationWaitsForTheTarget(t *testing.T) {
	w := basic(migratable, attached(here), pod(here), pod(there), engine(here, v1beta2.InstanceStateRunning),
		node(here, Node{Upgrading: true}), volume(func(v *Volume) { v.Relocated = true }))
	_, reason, message := reported(w, "csi-"+there)
	require.Equal(t, v1beta2.ReasonNodeUpgrading, reason)
	require.Contains(t, message, "the volume moves to node "+there+" when it is back")
}

// Nobody but a person ends this wait, so that its reason is another one.
func TestAPodReportsATargetThatNoUpgradeBringsBack(t *testing.T) {
	report := func(changes ...change) (reason, message string) {
		_, reason, message = reported(basic(append([]change{migratable, attached(here), pod(here), pod(there),
			engine(here, v1beta2.InstanceStateRunning), volume(func(v *Volume) { v.Relocated, v.TargetNodeID = true, third })}, changes...)...),
			"csi-"+there)
		return reason, message
	}
	reason, message := report()
	require.Equal(t, v1beta2.ReasonTargetElsewhere, reason)
	require.Contains(t, message, "spec.targetNodeID of Volume vol-1 names node "+third)
	require.Contains(t, message, "clear it, and the volume moves to node "+there)
	reason, _ = report(node(here, Node{Upgrading: true}))
	require.Equal(t, v1beta2.ReasonNodeUpgrading, reason, "the upgrade clears it")
	reason, _ = report(node(third, Node{Upgrading: true}))
	require.Equal(t, v1beta2.ReasonTargetElsewhere, reason, "an upgrade of another node does not")
	reason, message = report(volume(func(v *Volume) { v.TargetNodeID = "" }))
	require.Equal(t, v1beta2.ReasonMigrating, reason, "it is on its way back")
	require.Contains(t, message, "returns to node "+here)
}

// K1: every wait of a migration has its reason on the ticket.
func TestAPodReportsWhyItsMigrationDoesNotComplete(t *testing.T) {
	v := &v1beta2.Volume{}
	v.Spec.NodeID, v.Spec.MigrationNodeID, v.Spec.Migratable = here, there, true
	v.Status.State, v.Status.CurrentNodeID, v.Status.CurrentMigrationNodeID = v1beta2.VolumeStateAttached, here, there
	report := func() (reason, message string) {
		w := basic(migratable, attached(here), pod(here), pod(there), engine(here, v1beta2.InstanceStateRunning))
		volume := VolumeOf(v)
		volume.Name = w.Volume.Name
		w.Volume = &volume
		_, reason, message = reported(w, "csi-"+there)
		return reason, message
	}
	coming := "The volume is coming up on node " + there + " while it runs on node " + here + "."
	reason, message := report()
	require.Equal(t, v1beta2.ReasonMigrating, reason)
	require.Equal(t, coming, message)
	v.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.VolumeAttached, Status: v1beta2.ConditionTrue,
		Message: v1beta2.AttachedTo(here) + " Replica r is being rebuilt."}}
	reason, message = report()
	require.Equal(t, v1beta2.ReasonMigrating, reason)
	require.Equal(t, coming+" Replica r is being rebuilt.", message)
	v.Status.MigrationFailure = &v1beta2.MigrationFailure{Count: 2, NodeID: there, Message: "Exit status 61.", NextAttemptAt: "then"}
	reason, message = report()
	require.Equal(t, v1beta2.ReasonMigrationFailed, reason)
	require.Equal(t, coming+" Exit status 61. Failed attempts: 2; the next one begins at then.", message)
	v.Status.MigrationFailure.NodeID = third
	reason, _ = report()
	require.Equal(t, v1beta2.ReasonMigrating, reason, "another migration failed")
}

func TestAMigrationEnds(t *testing.T) {
	sourceLeft, targetLeft := withdrawn("csi-"+here), withdrawn("csi-"+there)
	failed := func(w *World) {
		w.Volume.CurrentMigrationNodeID = there
		w.Engines = append(w.Engines, Engine{Node: there, State: v1beta2.InstanceStateError})
	}
	differ := func(w *World) { w.Engines[0].Snapshots++ }
	triedAgain := func(w *World) { w.Volume.CurrentMigrationNodeID, w.Volume.MigrationFailed = there, "It failed." }
	v2 := volume(func(v *Volume) { v.V2 = true })
	back, both, moved := Spec{NodeID: here}, Spec{NodeID: here, MigrationNodeID: there}, Spec{NodeID: there}
	checkRows(t, map[string]rowCase{
		"both pods are there: the target comes up":            {moving(), RowKeep, both},
		"both pods are there: the target runs":                {moving(running), RowKeep, both},
		"both pods are there: the target failed":              {moving(failed), RowKeep, both},
		"M3: the second pod left":                             {moving(running, targetLeft), RowRollBack, back},
		"M3: both left: first the target goes":                {moving(running, targetLeft, sourceLeft), RowRollBack, back},
		"M3: the target is down and the first pod is there":   {moving(running, down(there)), RowRollBack, back},
		"M3: also when both nodes are down":                   {moving(running, down(here), down(there)), RowRollBack, back},
		"M4: the source is down":                              {moving(running, down(here)), RowAbandon, Spec{}},
		"M4: the source is down and its pod left":             {moving(running, down(here), sourceLeft), RowAbandon, Spec{}},
		"M4: the first pod left and the target is down":       {moving(running, sourceLeft, down(there)), RowAbandon, Spec{}},
		"M4: the first pod left and the target failed":        {moving(failed, sourceLeft), RowAbandon, Spec{}},
		"both pods are there: the target is tried again":      {moving(triedAgain), RowKeep, both},
		"M4: the first pod left and the target keeps failing": {moving(triedAgain, sourceLeft), RowAbandon, Spec{}},
		"M5: the target runs after it had failed":             {moving(running, triedAgain, sourceLeft), RowConfirm, moved},
		"M5: the first pod left":                              {moving(running, sourceLeft), RowConfirm, moved},
		"M5 waits for the target":                             {moving(sourceLeft), RowKeep, both},
		"M5 waits until the volume reports that it runs there": {moving(sourceLeft, engine(there, v1beta2.InstanceStateRunning)), RowKeep,
			both},
		"M5 waits for the same snapshots": {moving(running, sourceLeft, differ), RowKeep, both},
		"M5 waits for an engine to compare with": {moving(running, sourceLeft, func(w *World) { w.Engines = w.Engines[1:] }),
			RowKeep, both},
		"M5 waits for the frontend of v2": {moving(running, sourceLeft, v2), RowKeep, both},
		"M5 waits for the frontend of v2 to run": {
			moving(running, sourceLeft, v2, frontendOn(here, v1beta2.InstanceStateRunning),
				frontendOn(there, v1beta2.InstanceStateStarting)), RowKeep, both,
		},
		"M5 continues with v2's frontend": {moving(running, sourceLeft, v2, frontendOn(there, v1beta2.InstanceStateRunning)), RowConfirm,
			moved},
	})
}

// M6 is the volume machine's: the table keeps the node that was confirmed, and the volume leaves and comes again there.
func TestAConfirmedOrRolledBackMigrationContinues(t *testing.T) {
	rolled := func(changes ...change) World {
		w := moving(running, withdrawn("csi-"+there))
		w.Volume.MigrationNodeID = ""
		return with(w, changes...)
	}
	moved, back := Spec{NodeID: there}, Spec{NodeID: here}
	checkRows(t, map[string]rowCase{
		"M6: the source is leaving": {confirming(), RowKeep, moved},
		"M6: the source went down":  {confirming(down(here)), RowKeep, moved},
		"M6: the target failed": {confirming(func(w *World) { w.Engines[1].State = v1beta2.InstanceStateError }),
			RowKeep, moved},
		"M6: the second pod left, too: first finish":       {confirming(withdrawn("csi-" + there)), RowKeep, moved},
		"confirmed and finished, and no ticket wants it":   {basic(migratable, attached(there)), RowUnwanted, Spec{}},
		"D2: rolled back, it stays on the original node":   {rolled(), RowKeep, back},
		"D2: rolled back, and no ticket wants it":          {rolled(withdrawn("csi-" + here)), RowUnwanted, Spec{}},
		"D2: rolled back, and its node is down":            {rolled(down(here), pod(third)), RowDown, Spec{}},
		"D2: rolled back, and wanted elsewhere by another": {rolled(pod(third)), RowKeep, back},
	})
}

// A10: from the second pod to the end, with every party acting as it should.
func TestALiveMigrationFromEndToEnd(t *testing.T) {
	w := settled(basic(migratable, attached(here), pod(here), pod(there), engine(here, v1beta2.InstanceStateRunning)))
	satisfied := func(on string) bool {
		ok, _, _ := reported(w, "csi-"+on)
		return ok
	}
	require.Equal(t, there, w.Volume.MigrationNodeID)
	require.True(t, satisfied(here))
	require.False(t, satisfied(there))
	w = settled(with(w, running))
	require.True(t, satisfied(here) && satisfied(there), "both nodes have it")
	w = settled(with(w, withdrawn("csi-"+here)))
	require.Equal(t, Spec{NodeID: there}, w.Volume.Spec)
	require.True(t, satisfied(there), "it never stops running there")
	w = settled(with(w, attached(there), volume(func(v *Volume) { v.CurrentMigrationNodeID = "" })))
	require.True(t, satisfied(there))
	require.Equal(t, RowKeep, Decide(w).Row)
}
