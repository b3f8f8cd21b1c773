package snapshot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

type row struct {
	world  World
	step   Step
	reason string
}

func TestCreation(t *testing.T) {
	for name, r := range map[string]row{
		"on an attached volume taking it is approved at once":          {world(), StepStatus, v1beta2.ReasonCreating},
		"an engine that is deleted under its volume takes it":          {world(going), StepStatus, v1beta2.ReasonCreating},
		"and its snapshots are ready":                                  {world(taken, listed, going), StepStatus, v1beta2.ReasonReady},
		"a Snapshot that was never listed is not reported as detached": {world(system, going), StepStatus, v1beta2.ReasonLost},
		"a detached volume gets a ticket first":                        {world(detached), StepTakeTicket, v1beta2.ReasonWaitingForAttach},
		"then it reports that it waits": {world(detached, holdsTicket), StepStatus,
			v1beta2.ReasonWaitingForAttach},
		"what the engine lists is ready":                   {world(listed, requested), StepStatus, v1beta2.ReasonReady},
		"what the engine lists under that name is adopted": {world(listed), StepStatus, v1beta2.ReasonReady},
		"what the engine marked removed is not":            {world(listed, marked), StepStatus, v1beta2.ReasonMarkedRemoved},
		"a refusal without a time is final":                {world(requested, failed), StepStatus, v1beta2.ReasonFailed},
		"what the engine refused waits for a while": {world(refusedAgo(5*time.Second, 0)), StepStatus,
			v1beta2.ReasonFailed},
		"and is asked for again": {world(refusedAgo(10*time.Second, 0)), StepStatus,
			v1beta2.ReasonCreating},
		"with its volume attached again": {world(refusedAgo(10*time.Second, 0), detached), StepTakeTicket,
			v1beta2.ReasonWaitingForAttach},
		"and not over a limit": {world(refusedAgo(10*time.Second, 0), two,
			func(w *World) { w.Settings.MaxCount = 2 }), StepStatus, v1beta2.ReasonLimitReached},
		"the pause grows with the time that it was refused": {world(refusedAgo(time.Minute, 2*time.Minute)), StepStatus,
			v1beta2.ReasonFailed},
		"but not for ever": {world(refusedAgo(10*time.Minute, 2*time.Hour)), StepStatus,
			v1beta2.ReasonCreating},
		"refused for a day it is given up": {world(refusedAgo(time.Hour, 24*time.Hour)), StepStatus,
			v1beta2.ReasonFailed},
		"asked for again it is being taken": {world(requested, retried), StepStatus, v1beta2.ReasonCreating},
		"asked for again it has its volume attached": {world(requested, retried, detached), StepTakeTicket,
			v1beta2.ReasonWaitingForAttach},
		"without a volume it waits for one": {world(noOwner, func(w *World) { w.Volume = nil }), StepStatus,
			v1beta2.ReasonVolumeNotFound},
		"volume-head is no snapshot": {world(func(w *World) { w.Snapshot.Name = v1beta2.VolumeHead }), StepStatus,
			v1beta2.ReasonFailed},
		"at the volume's limit none is asked for": {world(func(w *World) { w.Volume.Spec.SnapshotMaxCount = 2 }, two),
			StepStatus, v1beta2.ReasonLimitReached},
		"at the setting's limit none is asked for": {world(func(w *World) { w.Settings.MaxCount = 2 }, two), StepStatus,
			v1beta2.ReasonLimitReached},
		"a detached volume at its limit is not attached to learn it": {world(detached,
			func(w *World) { w.Settings.MaxCount, w.Taken = 2, 2 }), StepStatus, v1beta2.ReasonLimitReached},
		"at the limit of bytes none is asked for": {world(func(w *World) { w.Volume.Spec.SnapshotMaxSize = 20 }, two),
			StepStatus, v1beta2.ReasonLimitReached},
		"below the limit of bytes one is asked for": {world(room, two), StepStatus, v1beta2.ReasonCreating},
		"one that was approved waits at the engine's limit": {world(requested, two, atLimit), StepStatus,
			v1beta2.ReasonLimitReached},
		"one that was approved continues, whatever the limit": {world(requested, two, func(w *World) { w.Settings.MaxCount = 2 }),
			StepStatus, v1beta2.ReasonCreating},
		"an engine's list that is not known decides nothing": {world(func(w *World) { w.Engine.Status.Snapshots = nil }),
			StepStatus, v1beta2.ReasonCreating},
		"a snapshot of the system that is not listed is lost":       {world(system), StepStatus, v1beta2.ReasonLost},
		"one that was taken and is not listed is lost, not retaken": {world(taken), StepStatus, v1beta2.ReasonLost},
		"a standby volume gets none":                                {world(standby), StepStatus, v1beta2.ReasonRestoring},
		"nor does one that is not activated yet": {world(func(w *World) { w.Volume.Status.IsStandby = true }), StepStatus,
			v1beta2.ReasonRestoring},
		"a volume that is being restored gets one afterwards":     {world(restoring), StepStatus, v1beta2.ReasonRestoring},
		"which it is not attached for, and gives its ticket back": {world(restoring, detached, holdsTicket), StepStatus, v1beta2.ReasonRestoring},
		"a volume that is being filled from another one, too":     {world(cloning), StepStatus, v1beta2.ReasonCloning},
		"what the engine refused is not asked for again meanwhile": {world(refusedAgo(10*time.Second, 0), restoring), StepStatus,
			v1beta2.ReasonRestoring},
		"what was approved before is waited for":                    {world(requested, restoring), StepStatus, v1beta2.ReasonCreating},
		"one of a detached volume that was never listed reports it": {world(system, detached), StepStatus, v1beta2.ReasonVolumeDetached},
		"one of an attached volume whose engine is not known to run does not report it as detached": {world(system, unknown), StepStatus,
			v1beta2.ReasonWaitingForAttach},
		"neither does one whose engine has not listed its snapshots": {world(system, func(w *World) { w.Engine.Status.Snapshots = nil }),
			StepStatus, v1beta2.ReasonWaitingForAttach},
		"which is corrected once the volume is detached": {world(system, detached,
			condition(v1beta2.SnapshotReady, v1beta2.ConditionFalse, v1beta2.ReasonWaitingForAttach)), StepStatus,
			v1beta2.ReasonVolumeDetached},
		"label, finalizer and owner reference come first": {world(noOwner), StepRepair, "Repaired"},
		"a label that names another volume is put right": {
			world(func(w *World) { w.Snapshot.Labels[v1beta2.LabelVolume] = "x" }), StepRepair, "Repaired"},
		"one that waited for its volume becomes the new volume's": {world(noOwner,
			func(w *World) { w.Volume.CreationTimestamp = at(5) }), StepRepair, "Repaired"},
		"what im-monitor withdrew is deleted":             {world(taken, withdrawn), StepDelete, "Withdrawn"},
		"the snapshots of a volume that goes are deleted": {world(taken, listed, leaving), StepDelete, "VolumeGone"},
		"those of a volume that is gone, too": {world(taken, func(w *World) { w.Volume = nil }), StepDelete,
			"VolumeGone"},
		"a new volume of the same name does not inherit them": {world(taken, listed, owner("other")), StepDelete, "VolumeGone"},
		"nor those that name no owner and are older": {world(taken, listed, noOwner,
			func(w *World) { w.Volume.CreationTimestamp = at(5) }), StepDelete, "VolumeGone"},
		"a faulted volume gets no ticket": {world(detached,
			func(w *World) { w.Volume.Status.Robustness = v1beta2.VolumeRobustnessFaulted }), StepStatus, v1beta2.ReasonWaitingForAttach},
		"without a node that can take it there is no ticket": {world(detached, func(w *World) { w.Candidate = "" }), StepStatus,
			v1beta2.ReasonWaitingForAttach},
		"without a VolumeAttachment there is nothing to write one to": {world(detached, func(w *World) { w.Attachment = nil }), StepStatus,
			v1beta2.ReasonWaitingForAttach},
	} {
		t.Run(name, func(t *testing.T) { check(t, r) })
	}
}

func TestRemoval(t *testing.T) {
	for name, r := range map[string]row{
		"with a place it is approved": {world(taken, listed, deleted, granted), StepStatus, v1beta2.ReasonRequested},
		"without one it waits in the queue": {world(taken, listed, deleted, refused), StepStatus,
			v1beta2.ReasonPurgeLimited},
		"a detached volume with a place gets a ticket": {world(taken, deleted, detached, granted), StepTakeTicket,
			v1beta2.ReasonWaitingForAttach},
		"and none without": {world(taken, deleted, detached, refused), StepStatus,
			v1beta2.ReasonPurgeLimited},
		"purges are disabled": {world(taken, listed, deleted,
			func(w *World) { w.Settings.PurgeDisabled = true }), StepStatus, v1beta2.ReasonPurgeDisabled},
		"the volume migrates": {world(taken, listed, deleted,
			func(w *World) { w.Volume.Spec.MigrationNodeID = "node-2" }), StepStatus, v1beta2.ReasonMigrating},
		"the volume's target is elsewhere for an upgrade": {world(taken, listed, deleted,
			func(w *World) { w.Volume.Spec.TargetNodeID = "node-2" }), StepStatus, v1beta2.ReasonUpgrading},
		"a replica is being rebuilt": {world(taken, listed, deleted, rebuilding), StepStatus,
			v1beta2.ReasonRebuilding},
		"linked clones share it": {world(taken, listed, deleted, func(w *World) { w.Clones = []string{"c"} }),
			StepStatus, v1beta2.ReasonLinkedClone},
		"a backup copies it": {world(taken, listed, deleted, copied), StepStatus, v1beta2.ReasonBackingUp},
		"one that is approved while a backup began waits": {world(taken, listed, deleted, copied, approved, granted), StepStatus,
			v1beta2.ReasonBackingUp},
		"of a volume that goes no backup holds it": {world(taken, listed, deleted, copied, leaving), StepDropFinalizer,
			"VolumeGone"},
		"it is the head's parent, and marked already": {world(taken, listed, deleted, marked), StepStatus,
			v1beta2.ReasonParentOfVolumeHead},
		"several build on it, and it is marked already": {world(taken, listed, deleted, marked, forked), StepStatus,
			v1beta2.ReasonHasMultipleChildren},
		"several build on it in v2, which marks nothing": {world(taken, listed, deleted, forked, v2), StepStatus,
			v1beta2.ReasonHasMultipleChildren},
		"one that is approved in v2 gives its place back": {world(taken, listed, deleted, forked, v2, approved), StepStatus,
			v1beta2.ReasonHasMultipleChildren},
		"several build on it in v1, which marks it first": {world(taken, listed, deleted, forked, granted), StepStatus,
			v1beta2.ReasonRequested},
		"only the head builds on it in v2": {world(taken, listed, deleted, granted, v2), StepStatus,
			v1beta2.ReasonRequested},
		"several build on it, and the volume is detached": {world(taken, deleted, v2, detached, granted, mirrored), StepStatus,
			v1beta2.ReasonHasMultipleChildren},
		"gone from the list after the approval it ends": {world(taken, deleted, approved), StepDropFinalizer, "Removed"},
		"gone without an approval it is approved first": {world(taken, deleted, granted), StepStatus, v1beta2.ReasonRequested},
		"an unknown list ends nothing": {world(taken, deleted, approved, detached, refused), StepStatus,
			v1beta2.ReasonPurgeLimited},
		"volume-head is no snapshot": {world(deleted, system, func(w *World) { w.Snapshot.Name = v1beta2.VolumeHead }), StepDropFinalizer,
			"NeverTaken"},
		"nor in a volume that is detached": {world(deleted, system, detached, func(w *World) { w.Snapshot.Name = v1beta2.VolumeHead }),
			StepDropFinalizer, "NeverTaken"},
		"never asked for, it ends at once":          {world(deleted), StepDropFinalizer, "NeverTaken"},
		"asked for, it waits for what became of it": {world(requested, deleted, granted), StepStatus, v1beta2.ReasonRequested},
		"cancelled it ends":                         {world(requested, deleted, cancelled), StepDropFinalizer, "NeverTaken"},
		"refused by the engine, which may end late": {world(requested, deleted, failed, granted), StepStatus,
			v1beta2.ReasonRequested},
		"the same of a detached volume": {world(requested, deleted, failed, detached, granted), StepTakeTicket,
			v1beta2.ReasonWaitingForAttach},
		"what the engine could not remove gives way": {world(taken, listed, deleted, unremovedAgo(time.Minute, 0), granted),
			StepStatus, v1beta2.ReasonRemovalFailed},
		"whatever stands against it is reported first": {world(taken, listed, deleted, unremovedAgo(time.Minute, 0), rebuilding),
			StepStatus, v1beta2.ReasonRebuilding},
		"what went all the same ends": {world(taken, deleted, unremovedAgo(time.Minute, 0)), StepDropFinalizer,
			"Removed"},
		"refused and asked for again it waits as well": {world(requested, deleted, retried, granted), StepStatus,
			v1beta2.ReasonRequested},
		"cancelled, but taken all the same, it is removed": {world(requested, deleted, cancelled, listed, granted), StepStatus,
			v1beta2.ReasonRequested},
		"the ticket goes before the finalizer":         {world(deleted, holdsTicket), StepDropTicket, "NeverTaken"},
		"of a volume that goes it ends without a call": {world(taken, listed, deleted, leaving), StepDropFinalizer, "VolumeGone"},
		"of another volume it ends without a call": {world(taken, listed, deleted, owner("other")), StepDropFinalizer,
			"VolumeGone"},
		"what im-monitor withdrew ends": {world(taken, deleted, withdrawn), StepDropFinalizer, "Withdrawn"},
		"a ticket that cannot help is given back": {world(taken, listed, deleted, holdsTicket, rebuilding,
			condition(v1beta2.SnapshotRemovalApproved, v1beta2.ConditionFalse, "")), StepStatus, v1beta2.ReasonRebuilding},
	} {
		t.Run(name, func(t *testing.T) { check(t, r) })
	}
}

func check(t *testing.T, r row) {
	t.Helper()
	v := Decide(r.world)
	require.Equal(t, r.reason, v.Reason, v.Message)
	require.Equal(t, r.step, v.Step)
	if v.Step == StepDelete || v.Step == StepDropFinalizer {
		require.Equal(t, v.End == EndVolumeGone && (r.world.Volume == nil || r.world.Volume.DeletionTimestamp == nil), v.Confirm,
			"a volume's absence is seen uncached")
	}
}

// It may be of a volume of the same name that was made since, which the cache does not show yet.
func TestASnapshotThatNamesNoOwnerGoesWithAVolumeThatIsKnownToGo(t *testing.T) {
	require.False(t, Decide(world(leaving)).Confirm)
	v := Decide(world(leaving, func(w *World) { w.Snapshot.OwnerReferences = nil }))
	require.Equal(t, StepDelete, v.Step)
	require.True(t, v.Confirm)
}

func copied(w *World) { w.Backups = []string{"b"} }

// room: the limit of bytes is just as large as what two has.
func room(w *World) { w.Volume.Spec.SnapshotMaxSize = 21 }

// two: the head of one byte builds on two snapshots of ten.
func two(w *World) {
	parent := ""
	for _, name := range []string{"a", "b"} {
		w.Engine.Status.Snapshots[name] = v1beta2.SnapshotInfo{Name: name, Parent: parent, Size: "10"}
		parent = name
	}
	w.Engine.Status.Snapshots[v1beta2.VolumeHead] = v1beta2.SnapshotInfo{Name: v1beta2.VolumeHead, Parent: parent, Size: "1"}
}

// atLimit: im-monitor found a limit when it was to take the snapshot.
func atLimit(w *World) {
	w.Snapshot.Status.Conditions = append(w.Snapshot.Status.Conditions, v1beta2.Condition{Type: v1beta2.SnapshotProvisioned,
		Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonLimitReached, Message: "Volume vol-1 has 2 snapshots and may have 2."})
}

func leaving(w *World) {
	now := metav1.NewTime(noon)
	w.Volume.DeletionTimestamp = &now
}

func rebuilding(w *World) {
	w.Engine.Status.ReplicaModeMap = map[string]string{"r": v1beta2.ReplicaModeWO}
}

func forked(w *World) {
	info := w.Engine.Status.Snapshots["snap-1"]
	info.Children = map[string]bool{"a": true, "b": true}
	w.Engine.Status.Snapshots["snap-1"] = info
}

func v2(w *World) { w.Volume.Spec.DataEngine = v1beta2.DataEngineV2 }

// mirrored: it was seen that two build on it.
func mirrored(w *World) {
	w.Snapshot.Status.Children, w.Above = map[string]bool{"a": true, v1beta2.VolumeHead: true}, []string{"a"}
}

// branched: two were made on it that its status does not show.
func branched(w *World) {
	w.Snapshot.Status.Children, w.Above = map[string]bool{v1beta2.VolumeHead: true}, []string{"a", "b"}
}

// unnamed: its status shows two that have no Snapshots.
func unnamed(w *World) {
	w.Snapshot.Status.Children, w.Above = map[string]bool{"a": true, "b": true}, nil
}

// A newer snapshot takes the place of the head: the one below is not written for that, and shows all the same that it can go.
func TestANewerSnapshotCostsTheOneBelowNoWrite(t *testing.T) {
	children := func(w *World, names ...string) {
		info := w.Engine.Status.Snapshots["snap-1"]
		info.Children, w.Above = map[string]bool{}, nil
		for _, name := range names {
			info.Children[name] = true
			if name != v1beta2.VolumeHead {
				w.Above = append(w.Above, name)
			}
		}
		w.Engine.Status.Snapshots["snap-1"] = info
	}
	w, steps := settled(t, world(taken, listed))
	require.Equal(t, []Step{StepStatus}, steps)
	children(&w, "snap-2")
	_, steps = settled(t, w)
	require.Empty(t, steps)
	deleted(&w)
	detached(&w)
	w.Above = []string{"snap-2"}
	require.True(t, Decide(w).NeedsPlace, "the head does not build on it any more")

	w, _ = settled(t, world(taken, listed))
	children(&w, "snap-2")
	w.Above = nil
	w, steps = settled(t, w)
	require.Equal(t, []Step{StepStatus}, steps, "nothing else shows a newer one that has no Snapshot")
	require.False(t, w.Snapshot.Status.Children[v1beta2.VolumeHead])

	w, _ = settled(t, world(taken, listed))
	children(&w, "snap-2", v1beta2.VolumeHead)
	w, steps = settled(t, w)
	require.Equal(t, []Step{StepStatus}, steps, "a revert: the head builds on it beside a newer one")
	children(&w, "snap-2", "snap-3")
	w, steps = settled(t, w)
	require.Empty(t, steps)
	children(&w)
	w, steps = settled(t, w)
	require.Equal(t, []Step{StepStatus}, steps, "the head left it without another in its place")
	require.False(t, w.Snapshot.Status.Children[v1beta2.VolumeHead])
}

// Whoever deletes the only snapshot of a v1 volume is reported what ends the wait.
func TestTheParentOfTheHeadSaysWhatFreesIt(t *testing.T) {
	v := Decide(world(taken, listed, deleted, marked))
	require.Equal(t, v1beta2.ReasonParentOfVolumeHead, v.Reason)
	require.Contains(t, v.Message, "create another Snapshot of the volume")
}

// What is asked for again is asked for after the refusal, by im-monitor's clock, too.
func TestARefusedSnapshotIsRequestedAgain(t *testing.T) {
	w := world(refusedAgo(4*time.Second, 0))
	v := Decide(w)
	require.Equal(t, "The engine did not take it: disk on fire. It is requested again at 2026-08-01T12:00:06Z.", v.Message)
	require.Equal(t, noon.Add(6*time.Second), v.Enqueue)
	w, _ = settled(t, w)
	require.Equal(t, v.Message, w.Snapshot.Status.Error)
	require.Equal(t, v.Enqueue, Decide(w).Enqueue, "another decision requeues as well")
	require.True(t, w.failed())
	w.Now = v.Enqueue
	w, _ = settled(t, w)
	require.False(t, w.failed())
	require.Equal(t, "2026-08-01T12:00:06Z", w.Snapshot.Status.RequestedTime)

	w = world(refusedAgo(10*time.Second, 0))
	c := &w.Snapshot.Status.Conditions[0]
	c.LastTransitionTime, c.LastProbeTime = "2026-08-01T13:00:00Z", "2026-08-01T13:00:00.5Z" // its clock is ahead
	w, steps := settled(t, w)
	require.Equal(t, []Step{StepStatus}, steps)
	require.False(t, w.failed())
}

// An approval is taken back when the engine could not remove it, gives its place and its ticket back, and is given again after a pause.
func TestARemovalThatFailedIsTriedAgain(t *testing.T) {
	w := world(taken, listed, deleted, granted, holdsTicket, unremovedAgo(time.Minute, 40*time.Second))
	v := Decide(w)
	require.Equal(t, "The engine could not remove it: disk on fire. It is tried again at 2026-08-01T12:00:40Z.", v.Message)
	require.False(t, v.Holds)
	w, steps := settled(t, w)
	require.Equal(t, []Step{StepStatus, StepDropTicket}, steps)
	require.Equal(t, noon.Add(40*time.Second), Decide(w).Enqueue)
	w.Now = noon.Add(39 * time.Second)
	require.Equal(t, StepNone, Decide(w).Step)

	w.Now, w.Place = noon.Add(40*time.Second), PlaceUnknown
	require.True(t, Decide(w).NeedsPlace)
	w.Place = PlaceGranted
	w, steps = settled(t, w)
	require.Equal(t, []Step{StepStatus}, steps)
	require.True(t, conditions.IsTrue(w.Snapshot.Status.Conditions, v1beta2.SnapshotRemovalApproved))
	require.True(t, Decide(w).Holds)

	w = world(taken, listed, deleted, granted, unremovedAgo(time.Minute, 0))
	c := &w.Snapshot.Status.Conditions[1]
	c.LastTransitionTime, c.LastProbeTime = "2026-08-01T13:00:00Z", "2026-08-01T13:00:00.5Z" // its clock is ahead
	w, _ = settled(t, w)
	w.Now = noon.Add(10 * time.Second)
	w, _ = settled(t, w)
	require.Equal(t, "2026-08-01T13:00:01Z", conditions.Get(w.Snapshot.Status.Conditions,
		v1beta2.SnapshotRemovalApproved).LastTransitionTime)
	_, steps = settled(t, w)
	require.Empty(t, steps)
}

// A volume must not be attached and detached for ever for a snapshot that cannot go.
func TestOneThatCannotBeMergedDoesNotAttachItsVolumeAgain(t *testing.T) {
	w, _ := settled(t, world(taken, listed, deleted, forked, v2, holdsTicket))
	require.Nil(t, w.ticket())
	detached(&w)
	w.Place = PlaceGranted
	_, steps := settled(t, w)
	require.Empty(t, steps)
	require.False(t, Decide(w).Holds)
}

func TestTheWholeWay(t *testing.T) {
	w := world(detached)
	w, steps := settled(t, w)
	require.Equal(t, []Step{StepTakeTicket, StepStatus}, steps)
	require.False(t, w.Snapshot.Status.ReadyToUse)

	w.Volume.Status.State, w.Engine.Status.CurrentState = v1beta2.VolumeStateAttached, v1beta2.InstanceStateRunning
	w, steps = settled(t, w)
	require.Equal(t, []Step{StepStatus}, steps, "the request is written before the call")
	require.NotEmpty(t, w.Snapshot.Status.RequestedTime)

	listed(&w)
	w, steps = settled(t, w)
	require.Equal(t, []Step{StepStatus, StepDropTicket}, steps)
	s := w.Snapshot.Status
	require.True(t, s.ReadyToUse)
	require.EqualValues(t, 42, s.Size)
	require.EqualValues(t, 1000, s.RestoreSize)
	require.Equal(t, "2026-08-01T11:00:00Z", s.CreationTime)

	detached(&w)
	w, steps = settled(t, w)
	require.Empty(t, steps, "detaching writes nothing")

	deleted(&w)
	w.Place = PlaceGranted
	w, steps = settled(t, w)
	require.Equal(t, []Step{StepTakeTicket, StepStatus}, steps)
	w.Volume.Status.State, w.Engine.Status.CurrentState = v1beta2.VolumeStateAttached, v1beta2.InstanceStateRunning
	w, steps = settled(t, w)
	require.Equal(t, []Step{StepStatus}, steps)
	require.True(t, conditions.IsTrue(w.Snapshot.Status.Conditions, v1beta2.SnapshotRemovalApproved))

	marked(&w)
	info := w.Engine.Status.Snapshots["snap-1"]
	info.Children = map[string]bool{"snap-2": true}
	w.Engine.Status.Snapshots["snap-1"] = info
	_, steps = settled(t, w)
	require.Empty(t, steps, "what the engine makes of it on the way out is not copied")

	delete(w.Engine.Status.Snapshots, "snap-1")
	_, steps = settled(t, w)
	require.Equal(t, []Step{StepDropTicket, StepDropFinalizer}, steps)
}
