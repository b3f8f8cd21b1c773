package orphan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func conditionOf(v orphan.OrphanVerdict, conditionType string) v1beta2.Condition {
	if c := conditions.Get(v.Conditions, conditionType); c != nil {
		return *c
	}
	return v1beta2.Condition{}
}

// otherIdentity makes it the orphan of an earlier instance of the name.
func otherIdentity(o *orphan.Orphan) {
	o.UUID, o.Name = uuid2, v1beta2.OrphanName(o.InstanceName, uuid2, o.InstanceManager, o.DataEngine)
}

// Whoever reads a decision finds the instance, where it is, and what it waits for.
func TestADecisionNamesWhatItIsAbout(t *testing.T) {
	for sentence, c := range map[string]struct {
		world orphan.World
		want  string
	}{
		"no list": {seen(unknownList), "The instances of " + here + " are unknown: no complete list was read since it was last connected."},
		"a node that is down": {seen(func(w *orphan.World) { w.Node.Down = true }),
			"Node node-1 is down or being deleted."},
		"two servers": {seen(func(w *orphan.World) { w.Duplicate = there }), here + " and " + there + " list the same " + replica +
			" (UUID " + uuid1 + "): one of their addresses is that of the other's server."},
		"no identity": {seen(noUUID), "replica " + replica + " on " + here +
			" appears orphaned (NoOwnerCR), but neither its status nor the SPDK inventory reports its UUID."},
		"a frontend":                {seen(kind("engine-frontend")), replica + ` is of type "engine-frontend", which is not evaluated.`},
		"about to go":               {seen(state("stopping")), replica + " is stopping."},
		"stopping, with its object": {seen(claimed(), state("stopping")), replica + " is stopping and its object exists."},
		"a deleted object": {seen(claimed(func(c *orphan.Claim) { c.Deleting = true })),
			"The object of " + replica + " is being deleted."},
		"a change": {seen(claimed(func(c *orphan.Claim) { c.DesireState = "stopped" })),
			"The current state of the object of " + replica + ` is "running", its desired state "stopped".`},
		"another owner": {seen(claimed(func(c *orphan.Claim) { c.OwnerID = "node-3" })),
			"The object of " + replica + ` belongs to node "node-1", but is owned by "node-3".`},
		"no stable state": {seen(claimed(func(c *orphan.Claim) { c.DesireState, c.CurrentState = "error", "error" })),
			"The object of " + replica + " is neither running nor stopped."},
		"running elsewhere": {seen(claimed(elsewhere)), replica + " runs on " + there + " of node node-2; " + here +
			" still runs it, too, as replica (running). Its UUID was read from InstanceStatus."},
		"stopped": {seen(claimed(detached)), "The object of " + replica + " is stopped, but " + here +
			" still runs it as replica (running). Its UUID was read from InstanceStatus."},
		"data only": {lying(), "No Replica named " + replica + " exists, but its data is on node-1 (stopped). " +
			"Deleting this orphan destroys the data. Its UUID was read from InstanceStatus."},
		"data of another day": {lying(theDisk(func(d *orphan.Disk) { d.Foreign = true })), "No Replica named " + replica +
			" exists, but its data is on node-1 (stopped). It may have been there before its disk came to this cluster, so no policy " +
			"deletes it. Deleting this orphan destroys the data. Its UUID was read from InstanceStatus."},
	} {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, c.want, orphan.Evaluate(c.world).Evaluation.Message) })
	}
}

func TestAWithdrawalNamesItsCause(t *testing.T) {
	for sentence, c := range map[string]struct {
		world   orphan.World
		want    string
		present bool
	}{
		"it is absent": {seen(noInstance, known(gone)), replica + " disappeared from " + here + " by itself; nothing is left to delete.", false},
		"another instance has the name": {seen(known(otherIdentity)), replica + " on " + here + " has UUID " + uuid1 + ` now, not "` + uuid2 +
			`"; this orphan never touches the new instance.`, false},
		"it is claimed": {seen(claimed(), known()), replica + " is to run on " + here + " again; it is not deleted.", true},
		"its name is another one": {seen(known(func(o *orphan.Orphan) { o.Node = "node-2" })), "The name of this orphan is not the one of " +
			replica + " with a UUID; if the instance is orphaned, another orphan reports it.", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := orphan.Evaluate(c.world).Orphans[0]
			require.Equal(t, c.want, conditionOf(v, v1beta2.OrphanWithdrawn).Message)
			require.Equal(t, "Withdrawn: "+v.Withdrawn+".", conditionOf(v, v1beta2.OrphanOrphaned).Message)
			require.Equal(t, c.present, conditionOf(v, v1beta2.OrphanInstanceState).Status == v1beta2.ConditionTrue,
				"the end of exactly this instance is reported only where it is proven")
		})
	}
}

func TestAnEndNamesWhatIsLeft(t *testing.T) {
	absent := orphan.Evaluate(seen(noInstance, known(approved, gone))).Orphans[0]
	require.Equal(t, replica+" with UUID "+uuid1+" is not on "+here+" any more.", conditionOf(absent, v1beta2.OrphanInstanceState).Message)
	stopped := orphan.Evaluate(seen(v2, claimed(detached), state("stopped"), known(approved))).Orphans[0]
	require.True(t, stopped.Terminated)
	require.Equal(t, "The runtime of "+replica+" is stopped; its Replica exists and keeps the data.",
		conditionOf(stopped, v1beta2.OrphanInstanceState).Message)
	require.Equal(t, v1beta2.InstanceStateTerminated, conditionOf(stopped, v1beta2.OrphanInstanceState).Reason)
}

// A list at the very moment of the deletion may have been made before it: only a later one is evidence.
func TestAStoppedRuntimeIsEvidenceOnlyAfterItsMoment(t *testing.T) {
	world := func(began, epoch, deleted time.Time) orphan.World {
		return seen(v2, claimed(detached), state("stopped"), known(approved, func(o *orphan.Orphan) { o.DeletionSeen = deleted }),
			func(w *orphan.World) { w.Inventory.Began, w.Inventory.EpochSince = began, epoch })
	}
	at := func(s int) time.Time { return now.Add(time.Duration(s) * time.Second) }
	for sentence, c := range map[string]struct {
		began, epoch, deleted time.Time
		proven                bool
		poll                  time.Time
	}{
		"as the deletion was seen":              {at(-10), at(-60), at(-10), false, at(-10)},
		"a millisecond after it":                {at(-10).Add(time.Millisecond), at(-60), at(-10), true, time.Time{}},
		"as the epoch settles":                  {at(-10), at(-40), at(-50), false, at(-10)},
		"a millisecond after it, too":           {at(-10).Add(time.Millisecond), at(-40), at(-50), true, time.Time{}},
		"both at one moment":                    {at(-10), at(-40), at(-10), false, at(-10)},
		"the deletion is of a later clock":      {at(-1), at(-60), at(60), false, at(60)},
		"the epoch is of a clock that was back": {at(-1), at(60), at(-50), false, at(90)},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := orphan.Evaluate(world(c.began, c.epoch, c.deleted))
			require.Equal(t, c.proven, v.Orphans[0].Terminated)
			if c.poll.IsZero() {
				require.Zero(t, v.PollAt)
				return
			}
			require.Equal(t, c.poll.Add(time.Millisecond), v.PollAt)
			w := world(v.PollAt, c.epoch, c.deleted)
			require.True(t, orphan.Evaluate(w).Orphans[0].Terminated, "a list of that time is evidence")
		})
	}
}

// The earliest moment of all orphans counts, and only those count whose replica is there, stopped and not ended.
func TestAPollIsOnlyForAnOrphanThatItCouldEnd(t *testing.T) {
	seenAt := func(s int) func(*orphan.Orphan) {
		return func(o *orphan.Orphan) { approved(o); o.DeletionSeen = now.Add(time.Duration(s) * time.Second) }
	}
	world := func(change ...func(*orphan.World)) orphan.World {
		return seen(append([]func(*orphan.World){v2, claimed(detached), state("stopped")}, change...)...)
	}
	poll := func(w orphan.World) time.Time { return orphan.Evaluate(w).PollAt }
	first := now.Add(5*time.Second + time.Millisecond)
	require.Equal(t, first, poll(world(known(seenAt(9)), known(seenAt(5)))))
	require.Equal(t, first, poll(world(known(seenAt(5)), known(seenAt(9)))), "in whatever order they are listed")
	for sentence, w := range map[string]orphan.World{
		"it is not deleted":       world(known(seenAt(5), func(o *orphan.Orphan) { o.Deleting = false })),
		"an earlier leader calls": world(known(seenAt(5), func(o *orphan.Orphan) { o.FencingDelayed = true })),
		"it has ended": world(known(seenAt(5), func(o *orphan.Orphan) {
			o.Conditions = append(o.Conditions, v1beta2.Condition{Type: v1beta2.OrphanInstanceState, Status: v1beta2.ConditionFalse})
		})),
		"another instance has the name": world(known(seenAt(5), otherIdentity)),
		"the node is down":              world(known(seenAt(5)), func(w *orphan.World) { w.Node.Down = true }),
		"the list is unknown":           world(known(seenAt(5)), unknownList),
		"it runs":                       world(known(seenAt(5)), state("running")),
		"it is an engine":               world(known(seenAt(5)), kind("engine")),
		"no Replica keeps the data":     world(known(seenAt(5)), func(w *orphan.World) { w.Replica = nil }),
		"it is of v1":                   seen(claimed(detached), state("stopped"), known(seenAt(5))),
	} {
		t.Run(sentence, func(t *testing.T) { require.Zero(t, poll(w)) })
	}
}

func TestAnAbsenceIsAwaitedWhileAnyOrphanIsOpen(t *testing.T) {
	delayed := func(o *orphan.Orphan) { o.FencingDelayed = true }
	require.False(t, orphan.Evaluate(seen(noInstance, known(delayed))).ExpectAbsence)
	require.True(t, orphan.Evaluate(seen(noInstance, known(delayed), known())).ExpectAbsence, "the second one waits")
	require.False(t, orphan.Evaluate(seen(known())).ExpectAbsence, "it is listed")
	require.False(t, orphan.Evaluate(seen(unknownList, known())).ExpectAbsence, "unknown is not absent")
}

// What is listed under an orphan's name is its state only with its UUID, or where the server reports none.
func TestTheStateOfAnotherInstanceIsNotTheOrphans(t *testing.T) {
	running := func(w orphan.World) bool {
		return conditionOf(orphan.Evaluate(w).Orphans[0], v1beta2.OrphanInstanceState).Status == v1beta2.ConditionTrue
	}
	require.True(t, running(seen(known())))
	require.True(t, running(seen(noUUID, known())), "no identity is reported")
	require.False(t, running(seen(noUUID, claimed(func(c *orphan.Claim) { c.DesireState = "stopped" }), known())),
		"while the object changes, an instance without identity is no orphan's")
	require.False(t, running(seen(known(otherIdentity))))
	require.False(t, running(seen(noInstance, known())))
	require.False(t, running(seen(known(), func(w *orphan.World) { w.Node.Down = true })))
	other := orphan.Evaluate(seen(known(otherIdentity, approved))).Orphans[0]
	require.False(t, other.Execute)
	require.Equal(t, v1beta2.ConditionFalse, conditionOf(other, v1beta2.OrphanOrphaned).Status)
}

// A condition that only repeats what is stored keeps its times; one whose status changes keeps only that of the probe.
func TestTheTimesOfAConditionStayWhileItsStatusDoes(t *testing.T) {
	stored := func(status v1beta2.ConditionStatus) func(*orphan.Orphan) {
		return func(o *orphan.Orphan) {
			o.Conditions = []v1beta2.Condition{{Type: v1beta2.OrphanOrphaned, Status: status, LastProbeTime: "1", LastTransitionTime: "2"}}
		}
	}
	same := conditionOf(orphan.Evaluate(seen(known(stored(v1beta2.ConditionTrue)))).Orphans[0], v1beta2.OrphanOrphaned)
	require.Equal(t, []string{"1", "2"}, []string{same.LastProbeTime, same.LastTransitionTime})
	changed := conditionOf(orphan.Evaluate(seen(known(stored(v1beta2.ConditionFalse)))).Orphans[0], v1beta2.OrphanOrphaned)
	require.Equal(t, []string{"1", ""}, []string{changed.LastProbeTime, changed.LastTransitionTime})
}

// Storing a verdict and deciding again requires nothing more, at whatever point the orphan is.
func TestDecidingOnAStoredVerdictChangesNothing(t *testing.T) {
	for sentence, w := range map[string]orphan.World{
		"it is orphaned":                 seen(known(func(o *orphan.Orphan) { o.Conditions = nil })),
		"it is approved":                 seen(known(approved)),
		"it waits for its object":        seen(claimed(func(c *orphan.Claim) { c.DesireState = "stopped" }), known(approved)),
		"it is withdrawn":                seen(claimed(), known(approved)),
		"another instance has its name":  seen(known(otherIdentity)),
		"it is absent":                   seen(noInstance, known(approved, gone)),
		"its runtime is stopped":         seen(v2, claimed(detached), state("stopped"), known(approved)),
		"its deletion failed":            seen(known(approved, func(o *orphan.Orphan) { o.Failure = &orphan.Failure{Reason: "Refused"} })),
		"its data lies on the disk":      lying(orphanedData()),
		"its data is claimed":            lying(claimed(elsewhere), orphanedData()),
		"its disk is evicted":            lying(orphanedData(), theDisk(func(d *orphan.Disk) { d.Evicting = true })),
		"its disk is another one by now": lying(orphanedData(), theDisk(func(d *orphan.Disk) { d.Path = "/dev/c" })),
		"its data is absent":             lying(noInstance, orphanedData(gone)),
	} {
		t.Run(sentence, func(t *testing.T) {
			first := orphan.Evaluate(w).Orphans[0]
			w.Orphans[0].OwnerID = first.OwnerID
			w.Orphans[0].Conditions = append(conditions.Owned(w.Orphans[0].Conditions, v1beta2.OrphanCleanupApproved), first.Conditions...)
			again := orphan.Evaluate(w).Orphans[0]
			require.True(t, conditions.Equal(first.Conditions, again.Conditions))
			require.Equal(t, first.OwnerID, again.OwnerID)
			require.Equal(t, first.Execute, again.Execute)
		})
	}
}

// A disk is one by UUID, name and path: at any difference the data is out of reach, and the message names what differs.
func TestDataIsCleanedUpOnlyOnExactlyItsDisk(t *testing.T) {
	for sentence, c := range map[string]struct {
		change          func(*orphan.World)
		reason, message string
	}{
		"the node is evicted": {func(w *orphan.World) { w.Node.Evicting = true }, v1beta2.ReasonNodeEvicted, "Node node-1 is being evicted."},
		"the disk is not recorded": {theDisk(func(d *orphan.Disk) { d.UUID = "new" }), v1beta2.ReasonDiskInvalid,
			"Node node-1 has no ready disk with UUID " + lvstore + "."},
		"the disk has another name": {theDisk(func(d *orphan.Disk) { d.Name = "disk-2" }), v1beta2.ReasonDiskChanged,
			"The disk with UUID " + lvstore + " is disk disk-2 at /dev/a now."},
		"the disk has another path": {theDisk(func(d *orphan.Disk) { d.Path = "/dev/c" }), v1beta2.ReasonDiskChanged,
			"The disk with UUID " + lvstore + " is disk disk-1 at /dev/c now."},
		"the disk has another name and is not ready": {theDisk(func(d *orphan.Disk) { d.Name, d.Ready = "disk-2", false }),
			v1beta2.ReasonDiskInvalid, "Node node-1 has no ready disk with UUID " + lvstore + "."},
		"the disk has another path and is not ready": {theDisk(func(d *orphan.Disk) { d.Path, d.Ready = "/dev/c", false }),
			v1beta2.ReasonDiskInvalid, "Node node-1 has no ready disk with UUID " + lvstore + "."},
		"the disk is evicted and not ready": {theDisk(func(d *orphan.Disk) { d.Evicting, d.Ready = true, false }),
			v1beta2.ReasonDiskInvalid, "Node node-1 has no ready disk with UUID " + lvstore + "."},
		"the disk is evicted": {theDisk(func(d *orphan.Disk) { d.Evicting = true }), v1beta2.ReasonDiskEvicted,
			"Disk disk-1 of node node-1 is being evicted."},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := orphan.Evaluate(lying(orphanedData(), c.change)).Orphans[0]
			require.Equal(t, v1beta2.ReasonNotCleanable, v.Withdrawn)
			require.False(t, v.Execute)
			cleanable := conditionOf(v, v1beta2.OrphanDataCleanable)
			require.Equal(t, []string{c.reason, c.message}, []string{cleanable.Reason, cleanable.Message})
			require.Equal(t, c.message+" The orphan ends and the data stays; if it can be reached again, a new orphan appears.",
				conditionOf(v, v1beta2.OrphanWithdrawn).Message)
		})
	}
}

// Only the Replica's own address, known and of another instance manager, shows that an engine uses another instance of the name.
func TestAnEngineIsTakenToUseThisInstanceUnlessItsAddressIsElsewhere(t *testing.T) {
	allowed := func(address string, change func(*orphan.Claim)) bool {
		moved := claimed(elsewhere, func(c *orphan.Claim) { c.DiskID, c.Address = "other-disk", "10.0.0.2:20001" }, change)
		return call(seen(v2, onDisk, moved), func(c *orphan.CallWorld) {
			c.Engines = []mapping.Engine{{Name: engine, Running: true, Replicas: map[string]string{replica: address}}}
		}).Allowed
	}
	keep := func(*orphan.Claim) {}
	require.True(t, allowed("10.0.0.2:20001", keep))
	require.False(t, allowed("10.0.0.2:20002", keep))
	require.False(t, allowed("", keep), "an unknown address")
	require.False(t, allowed("", func(c *orphan.Claim) { c.Address = "" }), "two unknown addresses are not the same")
}
