package orphan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const (
	here    = "instance-manager-0123456789abcdef0123456789abcdef"
	there   = "instance-manager-ffffffffffffffffffffffffffffffff"
	replica = "vol-1-r-aabbccdd"
	engine  = "vol-1-e-0"
	uuid1   = "11111111-2222-3333-4444-555555555555"
	uuid2   = "66666666-7777-8888-9999-000000000000"
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// seen is a World in which a live replica of data engine v1 has no object at all.
func seen(change ...func(*orphan.World)) orphan.World {
	w := orphan.World{
		Now: now, Key: orphan.Key{InstanceManager: here, Name: replica},
		Manager: &orphan.Manager{Node: "node-1", DataEngine: "v1"}, Node: &orphan.Node{},
		Inventory: &orphan.Inventory{Began: now.Add(-time.Second), EpochSince: now.Add(-time.Hour),
			Instance: &orphan.Instance{Type: "replica", State: "running", UUID: uuid1, UUIDSource: orphan.SourceInstanceStatus}},
		Rules: orphan.Rules{AbsenceGap: 5 * time.Second, V2Settle: 30 * time.Second},
	}
	for _, f := range change {
		f(&w)
	}
	return w
}

func v2(w *orphan.World)          { w.Manager.DataEngine = "v2" }
func noInstance(w *orphan.World)  { w.Inventory.Instance = nil }
func unknownList(w *orphan.World) { w.Inventory = nil }
func noUUID(w *orphan.World)      { w.Inventory.Instance.UUID, w.Inventory.Instance.UUIDSource = "", "" }
func state(s string) func(*orphan.World) {
	return func(w *orphan.World) { w.Inventory.Instance.State = s }
}
func kind(s string) func(*orphan.World) {
	return func(w *orphan.World) { w.Inventory.Instance.Type = s }
}

// claimed gives the Replica, running on this instance manager unless changed.
func claimed(change ...func(*orphan.Claim)) func(*orphan.World) {
	return func(w *orphan.World) {
		c := orphan.Claim{DesireState: "running", CurrentState: "running", NodeID: "node-1", OwnerID: "node-1", InstanceManager: here,
			VolumeName: "vol-1"}
		for _, f := range change {
			f(&c)
		}
		w.Replica = &c
	}
}

func elsewhere(c *orphan.Claim) { c.NodeID, c.OwnerID, c.InstanceManager = "node-2", "node-2", there }
func detached(c *orphan.Claim) {
	c.DesireState, c.CurrentState, c.OwnerID, c.InstanceManager = "stopped", "stopped", "", ""
}

// known adds an Orphan of the evaluated instance.
func known(change ...func(*orphan.Orphan)) func(*orphan.World) {
	return func(w *orphan.World) {
		o := orphan.Orphan{
			OrphanType: "replica-instance", DataEngine: w.Manager.DataEngine, Node: "node-1", InstanceName: w.Key.Name,
			InstanceManager: w.Key.InstanceManager, UUID: uuid1, OwnerID: "node-1",
			Conditions: []v1beta2.Condition{{Type: v1beta2.OrphanOrphaned, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonNoOwnerCR}},
		}
		o.Name = v1beta2.OrphanName(w.Key.Name, uuid1, w.Key.InstanceManager, w.Manager.DataEngine)
		for _, f := range change {
			f(&o)
		}
		w.Orphans = append(w.Orphans, o)
	}
}

func deleted(o *orphan.Orphan) { o.Deleting, o.DeletionSeen = true, now.Add(-10*time.Second) }
func gone(o *orphan.Orphan)    { o.Absent = true }
func approved(o *orphan.Orphan) {
	deleted(o)
	o.Conditions = append(o.Conditions, v1beta2.Condition{Type: v1beta2.OrphanCleanupApproved, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonApproved})
}

func TestEveryInstanceHasOneDecisionAndOneReason(t *testing.T) {
	cases := []struct {
		name     string
		world    orphan.World
		decision orphan.Decision
		reason   string
	}{
		{"a list that was never read decides nothing", seen(unknownList), orphan.Undecided, v1beta2.ReasonInventoryUnknown},
		{"an instance manager without object decides nothing", seen(func(w *orphan.World) { w.Manager = nil }), orphan.Undecided,
			v1beta2.ReasonInventoryUnknown},
		{"a node that is down gets no orphans", seen(func(w *orphan.World) { w.Node.Down = true }), orphan.Undecided,
			v1beta2.ReasonNodeDown},
		{"a node that is being deleted gets no orphans", seen(func(w *orphan.World) { w.Node.Deleting = true }), orphan.Undecided,
			v1beta2.ReasonNodeDown},
		{"a node without object gets no orphans", seen(func(w *orphan.World) { w.Node = nil }), orphan.Undecided, v1beta2.ReasonNodeDown},
		{"a name that the list lacks is nothing to evaluate", seen(noInstance), orphan.Nothing, ""},
		{"an instance that another manager lists, too: one of the lists comes from another server",
			seen(claimed(elsewhere), func(w *orphan.World) { w.Duplicate = there }), orphan.Undecided, v1beta2.ReasonInventoryUnknown},
		{"an engine-frontend is not evaluated", seen(kind("engine-frontend")), orphan.Undecided, v1beta2.ReasonFrontendNotJudged},
		{"an unknown type is not evaluated", seen(kind("shard")), orphan.Undecided, v1beta2.ReasonFrontendNotJudged},

		{"no object and running is an orphan", seen(), orphan.Orphaned, v1beta2.ReasonNoOwnerCR},
		{"no object and suspended is an orphan", seen(state("suspended")), orphan.Orphaned, v1beta2.ReasonNoOwnerCR},
		{"no object and in error is an orphan: it holds resources", seen(state("error")), orphan.Orphaned, v1beta2.ReasonNoOwnerCR},
		{"no object, v1, stopped: the entry is about to go", seen(state("stopped")), orphan.Undecided, v1beta2.ReasonNotLive},
		{"no object, starting: not yet there", seen(state("starting")), orphan.Undecided, v1beta2.ReasonNotLive},
		{"no object, v2 replica stopped: only data is left", lying(), orphan.Orphaned, v1beta2.ReasonDataOnly},
		{"no object, v2 replica pending: only data is left", lying(state("pending")), orphan.Orphaned, v1beta2.ReasonDataOnly},
		{"no object, v2 replica on a disk that is not recorded, or not any more", seen(v2, onDisk, state("stopped")), orphan.Orphaned,
			v1beta2.ReasonForeignData},
		{"no object, v2 replica whose disk is not reported", seen(v2, state("stopped")), orphan.Orphaned, v1beta2.ReasonForeignData},
		{"no object, v2 replica in error that came with its disk",
			lying(state("error"), theDisk(func(d *orphan.Disk) { d.Foreign = true })), orphan.Orphaned, v1beta2.ReasonForeignData},
		{"no object, v2 replica in error that is ours", lying(state("error")), orphan.Orphaned, v1beta2.ReasonNoOwnerCR},
		{"no object, v2 replica terminating: about to go", seen(v2, state("terminating")), orphan.Undecided, v1beta2.ReasonNotLive},
		{"no object, v2 engine stopped: an engine has no data", seen(v2, kind("engine"), state("stopped")), orphan.Undecided,
			v1beta2.ReasonNotLive},

		{"an instance that is to run here is claimed", seen(claimed()), orphan.Claimed, v1beta2.ReasonClaimed},
		{"running on another manager of the same node makes this one an orphan",
			seen(claimed(func(c *orphan.Claim) { c.InstanceManager = there })), orphan.Orphaned, v1beta2.ReasonOwnedByOtherInstanceManager},
		{"running on another node makes this one an orphan", seen(claimed(elsewhere)), orphan.Orphaned,
			v1beta2.ReasonOwnedByOtherInstanceManager},
		{"stopped and still live is an orphan, on its own node, too", seen(claimed(detached)), orphan.Orphaned,
			v1beta2.ReasonStoppedButPresent},
		{"stopped and still live is an orphan without any owner", seen(v2, claimed(detached)), orphan.Orphaned,
			v1beta2.ReasonStoppedButPresent},
		{"a detached v2 replica is the user's data", seen(v2, claimed(detached), state("stopped")), orphan.Undecided,
			v1beta2.ReasonNotLive},
		{"with an object, stopping is never an orphan", seen(claimed(elsewhere), state("stopping")), orphan.Undecided,
			v1beta2.ReasonNotLive},
		{"an object that is being deleted is left to its controllers", seen(claimed(detached, func(c *orphan.Claim) { c.Deleting = true })),
			orphan.Undecided, v1beta2.ReasonCRDeleting},
		{"current is not desired: the state may change", seen(claimed(elsewhere, func(c *orphan.Claim) { c.DesireState = "stopped" })),
			orphan.Undecided, v1beta2.ReasonStateChanging},
		{"error is not what was desired", seen(claimed(func(c *orphan.Claim) { c.CurrentState = "error" })), orphan.Undecided,
			v1beta2.ReasonStateChanging},
		{"running nowhere is an unfinished status", seen(claimed(func(c *orphan.Claim) { c.InstanceManager = "" })), orphan.Undecided,
			v1beta2.ReasonStateChanging},
		{"a stable state that is neither running nor stopped",
			seen(claimed(func(c *orphan.Claim) { c.DesireState, c.CurrentState = "suspended", "suspended" })), orphan.Undecided,
			v1beta2.ReasonTransientState},
		{"an object without any state yet", seen(claimed(func(c *orphan.Claim) { c.DesireState, c.CurrentState = "", "" })),
			orphan.Undecided, v1beta2.ReasonTransientState},
		{"a running object without owner", seen(claimed(elsewhere, func(c *orphan.Claim) { c.OwnerID = "" })), orphan.Undecided,
			v1beta2.ReasonOwnerElsewhere},
		{"a running object with a node serving in its place", seen(claimed(elsewhere, func(c *orphan.Claim) { c.OwnerID = "node-3" })),
			orphan.Undecided, v1beta2.ReasonOwnerElsewhere},

		{"an orphan without identity could not be deleted safely", seen(noUUID), orphan.Undecided, v1beta2.ReasonNoUUID},
		{"a claimed instance needs no identity", seen(noUUID, claimed()), orphan.Claimed, v1beta2.ReasonClaimed},
		{"the object of the other kind claims, too: v1 servers guess the type", seen(kind("engine"), claimed()), orphan.Claimed,
			v1beta2.ReasonClaimed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			j := orphan.Evaluate(c.world).Evaluation
			require.Equal(t, c.decision, j.Decision)
			require.Equal(t, c.reason, j.Reason)
			require.Equal(t, c.decision == orphan.Orphaned, j.UUID != "", "an orphan has an identity, and nothing else needs one")
		})
	}
}

// Each row matches the rule that it names and every later one; the earlier rule must win.
func TestTheFirstMatchingRuleIsTheResult(t *testing.T) {
	order := []struct {
		reason string
		add    func(*orphan.World)
	}{
		{v1beta2.ReasonOwnerElsewhere, claimed(elsewhere, func(c *orphan.Claim) { c.OwnerID = "" })},
		{v1beta2.ReasonStateChanging, func(w *orphan.World) { w.Replica.DesireState = "stopped" }},
		{v1beta2.ReasonCRDeleting, func(w *orphan.World) { w.Replica.Deleting = true }},
		{v1beta2.ReasonNotLive, state("stopping")},
		{v1beta2.ReasonFrontendNotJudged, kind("engine-frontend")},
		{v1beta2.ReasonNodeDown, func(w *orphan.World) { w.Node.Down = true }},
		{v1beta2.ReasonInventoryUnknown, unknownList},
	}
	w := seen(noUUID)
	require.Equal(t, v1beta2.ReasonNoUUID, orphan.Evaluate(w).Evaluation.Reason)
	for _, step := range order {
		step.add(&w)
		require.Equal(t, step.reason, orphan.Evaluate(w).Evaluation.Reason, "%s comes before all that were added earlier", step.reason)
	}
}

func TestAnOrphanIsCreatedWithItsExactNameLabelsAndParameters(t *testing.T) {
	v := orphan.Evaluate(seen(v2, func(w *orphan.World) { w.Inventory.Instance.UUID = uuid2 }))
	require.Equal(t, &orphan.Creation{
		Name:       "orphan-4015afbedba2f8c44d567331f05daf89c564910542da796b88b98f3a1b90ce9c",
		OrphanType: "replica-instance", DataEngine: "v2", Node: "node-1",
		Labels: map[string]string{
			"longhorn.io/component": "orphan", "longhorn.io/managed-by": "longhorn-manager", "longhorn.io/orphan-type": "replica-instance",
			"longhornnode": "node-1", "longhorninstancemanager": here, "longhornreplica": replica,
		},
		Parameters: map[string]string{"InstanceName": replica, "InstanceUUID": uuid2, "InstanceManager": here},
	}, v.Create)

	e := orphan.Evaluate(seen(kind("engine"), func(w *orphan.World) { w.Key.Name = engine })).Create
	require.Equal(t, "orphan-b4c78f9706401a24c384d8a84360c653075d7259808d4e9ddfdbc6e5ac612164", e.Name)
	require.Equal(t, engine, e.Labels["longhornengine"])
	require.NotContains(t, e.Labels, "longhornreplica")
}

func TestAnOrphanIsCreatedOnceForEachIdentity(t *testing.T) {
	require.Nil(t, orphan.Evaluate(seen(known())).Create)
	require.NotNil(t, orphan.Evaluate(seen(known(), func(w *orphan.World) { w.Inventory.Instance.UUID = uuid2 })).Create,
		"the new instance of the name is evaluated on its own")
	require.Nil(t, orphan.Evaluate(seen(known(func(o *orphan.Orphan) {
		o.Conditions = append(o.Conditions, v1beta2.Condition{Type: v1beta2.OrphanWithdrawn, Status: v1beta2.ConditionTrue,
			Reason: v1beta2.ReasonClaimed})
	}))).Create, "a withdrawn orphan must be gone before its name is used again")
}

func TestAnOrphanIsWithdrawnForTheseReasons(t *testing.T) {
	cases := []struct {
		name  string
		world orphan.World
		want  string
	}{
		{"still orphaned: kept", seen(known()), ""},
		{"claimed again", seen(claimed(), known()), v1beta2.ReasonClaimed},
		{"claimed again while it is being deleted", seen(claimed(), known(approved)), v1beta2.ReasonClaimed},
		{"claimed again where the server reports no UUID any more", seen(claimed(), noUUID, known()), v1beta2.ReasonClaimed},
		{"the name has another UUID", seen(known(func(o *orphan.Orphan) {
			o.UUID, o.Name = uuid2, v1beta2.OrphanName(replica, uuid2, here, "v1")
		})), v1beta2.ReasonUUIDMismatch},
		{"the name has another UUID and is being deleted", seen(known(approved, func(o *orphan.Orphan) {
			o.UUID, o.Name = uuid2, v1beta2.OrphanName(replica, uuid2, here, "v1")
		})), v1beta2.ReasonUUIDMismatch},
		{"an unknown UUID proves nothing", seen(noUUID, known()), ""},
		{"missing from a list: not yet gone", seen(noInstance, known()), ""},
		{"provenly absent", seen(noInstance, known(gone)), v1beta2.ReasonInstanceGone},
		{"provenly absent while being deleted is evidence, not a withdrawal", seen(noInstance, known(approved, gone)), ""},
		{"an undecided evaluation withdraws nothing",
			seen(claimed(elsewhere, func(c *orphan.Claim) { c.DesireState = "stopped" }), known()), ""},
		{"scheduled back but not yet running is undecided",
			seen(claimed(func(c *orphan.Claim) { c.CurrentState = "starting" }), known(approved)), ""},
		{"an unknown list withdraws nothing", seen(known(gone), unknownList), ""},
		{"a node that is down withdraws nothing", seen(claimed(), known(gone), func(w *orphan.World) { w.Node.Down = true }), ""},
		{"an old cluster's name", seen(known(func(o *orphan.Orphan) {
			o.UUID, o.Name = "",
				v1beta2.LegacyOrphanName(replica, here, "v1")
		})), v1beta2.ReasonRenamed},
		{"an old cluster's name, being deleted",
			seen(known(approved, func(o *orphan.Orphan) { o.UUID, o.Name = "", v1beta2.LegacyOrphanName(replica, here, "v1") })),
			v1beta2.ReasonRenamed},
		{"a UUID that the name does not carry", seen(known(func(o *orphan.Orphan) { o.UUID = uuid2 })), v1beta2.ReasonRenamed},
		{"a node that the instance manager is not on", seen(known(func(o *orphan.Orphan) { o.Node = "node-2" })), v1beta2.ReasonRenamed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := orphan.Evaluate(c.world).Orphans[0]
			require.Equal(t, c.want, v.Withdrawn)
			require.Equal(t, c.want != "", conditions.IsTrue(v.Conditions, v1beta2.OrphanWithdrawn))
			if c.want != "" {
				require.Equal(t, c.want, conditions.Reason(v.Conditions, v1beta2.OrphanWithdrawn))
				require.False(t, v.Execute, "withdrawn means that nothing is executed")
				require.True(t, conditions.IsFalse(v.Conditions, v1beta2.OrphanOrphaned))
			}
		})
	}
}

func TestAnOldNameIsReplaced(t *testing.T) {
	v := orphan.Evaluate(seen(known(func(o *orphan.Orphan) { o.UUID, o.Name = "", v1beta2.LegacyOrphanName(replica, here, "v1") })))
	require.Equal(t, v1beta2.ReasonRenamed, v.Orphans[0].Withdrawn)
	require.Equal(t, v1beta2.OrphanName(replica, uuid1, here, "v1"), v.Create.Name)
}

func TestAWithdrawalIsFinal(t *testing.T) {
	w := seen(claimed(), known(approved))
	v := orphan.Evaluate(w)
	w.Orphans[0].Conditions = append(v.Orphans[0].Conditions, conditions.Owned(w.Orphans[0].Conditions, v1beta2.OrphanCleanupApproved)...)
	w.Replica = nil
	again := orphan.Evaluate(w)
	require.Equal(t, orphan.Orphaned, again.Evaluation.Decision)
	require.False(t, again.Orphans[0].Execute)
	require.True(t, conditions.Equal(v.Orphans[0].Conditions, again.Orphans[0].Conditions))
}

func TestTheEndOfAnInstanceIsReportedOnEvidenceOnly(t *testing.T) {
	stoppedData := []func(*orphan.World){v2, claimed(detached), state("stopped")}
	with := func(extra ...func(*orphan.World)) orphan.World {
		return seen(append(append([]func(*orphan.World){}, stoppedData...), extra...)...)
	}
	cases := []struct {
		name  string
		world orphan.World
		want  bool
	}{
		{"absent", seen(noInstance, known(approved, gone)), true},
		{"absent, deleted but never approved: there is nothing left to approve", seen(noInstance, known(deleted, gone)), true},
		{"only missing", seen(noInstance, known(approved)), false},
		{"still there", seen(known(approved)), false},
		{"a claimed v2 replica that a later list shows stopped", with(known(approved)), true},
		{"the same, not being deleted", with(known()), false},
		{"the list is older than the deletion", with(known(approved, func(o *orphan.Orphan) { o.DeletionSeen = now })), false},
		{"the epoch has not settled", with(known(approved), func(w *orphan.World) { w.Inventory.EpochSince = now.Add(-10 * time.Second) }),
			false},
		{"without Replica the data is not finished with", seen(v2, state("stopped"), known(approved)), false},
		{"a v1 replica never stays stopped", seen(claimed(detached), state("stopped"), known(approved)), false},
		{"pending is not stopped", with(state("pending"), known(approved)), false},
		{"an unknown list is no evidence", seen(known(approved, gone), unknownList), false},
		{"an orphan in the post-election delay is left alone",
			seen(noInstance, known(approved, gone, func(o *orphan.Orphan) { o.FencingDelayed = true })), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := orphan.Evaluate(c.world).Orphans[0]
			require.Equal(t, c.want, v.Terminated)
			require.Equal(t, c.want, conditions.IsFalse(v.Conditions, v1beta2.OrphanInstanceState))
			require.Empty(t, v.Withdrawn)
		})
	}
}

func TestAnAbsenceIsAwaitedOnlyForAnOrphan(t *testing.T) {
	v := orphan.Evaluate(seen(noInstance, known()))
	require.True(t, v.ExpectAbsence)
	require.False(t, orphan.Evaluate(seen(noInstance)).ExpectAbsence, "without an orphan no absence is awaited")
	require.False(t, orphan.Evaluate(seen(noInstance, known(gone))).ExpectAbsence)

	stopped := seen(v2, claimed(detached), state("stopped"), known(approved), func(w *orphan.World) { w.Inventory.EpochSince = now })
	require.Equal(t, now.Add(30*time.Second+time.Millisecond), orphan.Evaluate(stopped).PollAt)
}

func TestExecution(t *testing.T) {
	condition := func(status v1beta2.ConditionStatus, reason string) func(*orphan.Orphan) {
		return func(o *orphan.Orphan) {
			deleted(o)
			o.Conditions = append(o.Conditions, v1beta2.Condition{Type: v1beta2.OrphanCleanupApproved, Status: status, Reason: reason})
		}
	}
	cases := []struct {
		name  string
		world orphan.World
		want  bool
	}{
		{"deleted, approved, orphaned", seen(known(approved)), true},
		{"orphaned by another rule than before: the rule may differ", seen(claimed(elsewhere), known(approved)), true},
		{"approved but not deleted", seen(known(approved, func(o *orphan.Orphan) { o.Deleting = false })), false},
		{"deleted but not approved", seen(known(deleted)), false},
		{"held", seen(known(condition(v1beta2.ConditionFalse, v1beta2.ReasonLastCopy))), false},
		{"approved for a reason of a newer version", seen(known(condition(v1beta2.ConditionTrue, "Whatever"))), false},
		{"claimed", seen(claimed(), known(approved)), false},
		{"undecided", seen(claimed(func(c *orphan.Claim) { c.CurrentState = "starting" }), known(approved)), false},
		{"no identity", seen(noUUID, known(approved)), false},
		{"unknown list", seen(known(approved), unknownList), false},
		{"node down", seen(known(approved), func(w *orphan.World) { w.Node.Down = true }), false},
		{"delayed", seen(known(approved, func(o *orphan.Orphan) { o.FencingDelayed = true })), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, orphan.Evaluate(c.world).Orphans[0].Execute) })
	}
}

func TestTheConditionsOfAnOrphan(t *testing.T) {
	v := orphan.Evaluate(seen(state("error"), known(func(o *orphan.Orphan) { o.Conditions, o.OwnerID = nil, "" }))).Orphans[0]
	require.Equal(t, "node-1", v.OwnerID)
	require.Equal(t, []v1beta2.Condition{
		{Type: "InstanceState", Status: "True", Reason: "error", Message: replica + " is listed as error by " + here + "."},
		{Type: "Orphaned", Status: "True", Reason: "NoOwnerCR", Message: "No Engine or Replica named " + replica + " exists, but " + here +
			" runs it as replica (error). Delete this orphan to end it. Its UUID was read from InstanceStatus."},
	}, v.Conditions)

	failure := &orphan.Failure{Reason: v1beta2.ReasonRefused, Message: "It refused."}
	v = orphan.Evaluate(seen(known(approved, func(o *orphan.Orphan) { o.Failure = failure }))).Orphans[0]
	require.Equal(t, v1beta2.ReasonRefused, conditions.Reason(v.Conditions, v1beta2.OrphanCleanupFailed))

	w := seen(known(approved, func(o *orphan.Orphan) {
		o.Conditions = append(o.Conditions, v1beta2.Condition{Type: v1beta2.OrphanCleanupFailed, Status: "True",
			Reason: v1beta2.ReasonRefused})
	}))
	require.NotNil(t, conditions.Get(orphan.Evaluate(w).Orphans[0].Conditions, v1beta2.OrphanCleanupFailed),
		"a new process keeps what the last one reported")
	w.Orphans[0].Failure = &orphan.Failure{}
	require.Nil(t, conditions.Get(orphan.Evaluate(w).Orphans[0].Conditions, v1beta2.OrphanCleanupFailed),
		"a call that was taken ends the failure")
}

// ALL-3: an Orphan whose finalizer waits for a decision reports the missing decision.
func TestADeletedOrphanReportsWhatItsDeletionWaitsFor(t *testing.T) {
	condition := func(w orphan.World) v1beta2.Condition {
		return *conditions.Get(orphan.Evaluate(w).Orphans[0].Conditions, v1beta2.OrphanInstanceState)
	}
	starting := claimed(elsewhere, func(c *orphan.Claim) { c.CurrentState = "starting" })
	waiting := condition(seen(starting, known(approved)))
	require.Equal(t, v1beta2.ConditionTrue, waiting.Status)
	require.Equal(t, "running", waiting.Reason)
	require.Contains(t, waiting.Message, v1beta2.ReasonStateChanging)
	require.Contains(t, condition(seen(v2, noUUID, known(approved))).Message, v1beta2.ReasonNoUUID)

	require.NotContains(t, condition(seen(starting, known())).Message, v1beta2.ReasonStateChanging, "it waits for "+
		"nothing while it is not deleted")
	require.NotContains(t, condition(seen(known(approved))).Message, "not deleted", "an orphan that may be deleted waits for nothing")
}

func TestAClaimedInstanceIsNamedInItsMessage(t *testing.T) {
	w := seen(claimed())
	require.Equal(t, w.Key.Name+" is to run here.", orphan.Evaluate(w).Evaluation.Message)
}
