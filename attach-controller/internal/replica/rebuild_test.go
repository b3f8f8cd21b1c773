package replica

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	sharedsetting "drover.dev/drover/shared/setting"
)

func noWait(w *World) { w.Settings.ReplenishmentWait = 0 }

func limit(n int) change { return settings(func(s *setting.Values) { s.RebuildsPerNode = n }) }

// byPerson is a replica that a person deleted.
func byPerson(node string) change {
	return replica(node, func(r *v1beta2.Replica) { r.DeletionTimestamp = &metav1.Time{Time: now} })
}

func TestAReplicaThatFailedIsWaitedForAndThenReplaced(t *testing.T) {
	check(t, map[string]row{
		"its node is down, and it failed just now": {attached("a b c", down("c"), failed("c", time.Minute)), "", ""},
		"its node is down, and it failed ten minutes ago": {attached("a b c", down("c"), failed("c", 10*time.Minute)),
			"create:d", v1beta2.ReasonPlaced},
		"there is no waiting where the setting is 0": {attached("a b c", down("c"), failed("c", 0), noWait), "create:d",
			""},
		"its node is gone: there is nothing to wait for": {attached("a b c", gone("c"), failed("c", time.Minute)),
			"create:d", ""},
		"its node is evicted: it must not come back": {attached("a b c", evicted("c"), down("c"),
			failed("c", time.Minute)), "create:d mark:c", ""},
		"it failed too often: it is replaced at once": {attached("a b c", failed("c", time.Second), tried("c", 5)),
			"create:d delete:c", ""},
		"two failed, one a while ago: one is replaced": {attached("a b c", down("b"), down("c"), failed("b", time.Minute),
			failed("c", time.Hour)), "create:d", ""},
		"more are wanted than ever failed": {attached("a b c", wants(4), down("c"), failed("c", time.Minute)),
			"create:d", ""},
		"no place is found": {attached("a b c", down("c"), failed("c", time.Hour), closed("d")),
			"", v1beta2.ReasonAntiAffinity},
		"the volume is detached": {attached("a b c", down("c"), failed("c", time.Hour), detached),
			"", ""},
		"the volume wants one more while it is detached": {attached("a b", wants(3), detached), "", ""},
		"no replica is healthy to rebuild it from":       {attached("a", failed("a", time.Hour)), "", ""},
		"an engine that is not seen is no base":          {attached("a b c", failed("c", time.Hour), down("a")), "", ""},
		"a volume that migrates is left alone": {attached("a b c", failed("c", time.Hour),
			volume(func(v *v1beta2.Volume) { v.Spec.MigrationNodeID = "b" })), "", ""},
		"a faulted volume is left alone": {attached("a b c", failed("c", time.Hour),
			volume(func(v *v1beta2.Volume) { v.Status.Robustness = v1beta2.VolumeRobustnessFaulted })), "", ""},
		"a volume that expands is left alone": {attached("a b c", failed("c", time.Hour),
			engine(func(e *v1beta2.Engine) { e.Status.IsExpanding = true })), "", ""},
		"a volume that is being cloned is left alone": {attached("a b c", failed("c", time.Hour), engine(func(e *v1beta2.Engine) {
			e.Status.CloneStatus = map[string]v1beta2.SnapshotCloneStatus{"tcp://a": {IsCloning: true}}
		})), "", ""},
		"a volume that waits for its source is not": {attached("a b c", failed("c", time.Hour),
			volume(func(v *v1beta2.Volume) { v.Status.CloneStatus.State = v1beta2.CloneInitiated })), "take-back:c", ""},
		"all were deleted at once, and serve: one is rebuilt from them": {attached("a b", byPerson("a"), byPerson("b")),
			"create:c refuse:a=NoHealthyCopy refuse:b=OtherReplicaFirst", ""},
		"all were deleted at once, and the engine knows none": {attached("a b", byPerson("a"), byPerson("b"),
			engine(func(e *v1beta2.Engine) { e.Status.ReplicaModeMap = nil })), "refuse:a=NoHealthyCopy refuse:b=OtherReplicaFirst", ""},
		"one is rebuilt at a time":                            {attached("a b", wants(4), coming("c")), "", ""},
		"healthy ones on a node that is down are no loss yet": {attached("a b c", down("c")), "", ""},
		"but on a node that is gone they are":                 {attached("a b c", gone("c")), "create:d", ""},
	})
}

func TestWaitingEndsExactlyInTime(t *testing.T) {
	v := decide(attached("a b c", down("c"), failed("c", time.Minute)))
	require.Equal(t, now.Add(9*time.Minute), v.RequeueAt)
}

func TestAReplicaThatComesBackIsTakenBack(t *testing.T) {
	stillRuns := replica("c", func(r *v1beta2.Replica) { r.Status.CurrentState = v1beta2.InstanceStateRunning })
	noDisk := func(w *World) { w.Nodes["c"].Status.DiskStatus = nil }
	notReady := func(w *World) {
		w.Nodes["c"].Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse,
			Reason: "ManagerPodDown"}}
	}
	upgraded := func(w *World) { w.Nodes["c"].Spec.UpgradeRequested = true }
	check(t, map[string]row{
		"at once, the first time":                     {attached("a b c", failed("c", 0)), "take-back:c", ""},
		"also when it is late":                        {attached("a b c", failed("c", time.Hour)), "take-back:c", ""},
		"rather than a new one, on a full cluster":    {attached("a b c", failed("c", time.Hour), closed("a b c d")), "take-back:c", ""},
		"not before its instance has stopped":         {attached("a b c", failed("c", 0), stillRuns), "", ""},
		"not while its node is reported as not ready": {attached("a b c", failed("c", 0), notReady), "", ""},
		"not while its node is upgraded":              {attached("a b c", failed("c", 0), upgraded), "", ""},
		"not onto a disk that is gone":                {attached("a b c", failed("c", 0), noDisk), "", ""},
		"not where im-monitor only concluded its end": {attached("a b c", failed("c", 0),
			says("c", v1beta2.InstanceNodeDown, "NodeDown")), "", ""},
		"the second time at once, too": {attached("a b c", failed("c", 0), tried("c", 1)), "take-back:c", ""},
		"after two failures in 5 s, not before": {attached("a b c", fails("c", 4*time.Second), tried("c", 2),
			failures(2, 4*time.Second)), "", v1beta2.ReasonRebuildFails},
		"after two failures in 5 s": {attached("a b c", fails("c", 5*time.Second), tried("c", 2), failures(2, 5*time.Second)),
			"take-back:c", v1beta2.ReasonRebuildFails},
		"after four failures in 20 s": {attached("a b c", fails("c", 20*time.Second), tried("c", 4), failures(4, 20*time.Second)),
			"take-back:c", v1beta2.ReasonRebuildFails},
		"not a sixth time: another one takes its place": {attached("a b c", failed("c", time.Hour), tried("c", 5)), "create:d delete:c",
			""},
		"a count that makes no sense is none": {attached("a b c", failed("c", 0), tried("c", -3)), "take-back:c", ""},
		"of two, the one whose time has come": {attached("a b c", failed("b", time.Second), tried("b", 3),
			failed("c", time.Minute)), "take-back:c", ""},
		"one at a time":                   {attached("a b c", failed("b", 0), failed("c", 0)), "take-back:b", ""},
		"not while the volume has enough": {attached("a b c", failed("c", 0), wants(2)), "delete:c", ""},
	})
}

func TestATakenBackReplicaStartsOver(t *testing.T) {
	v := decide(attached("a b c", failed("c", time.Minute), tried("c", 2)))
	require.Equal(t, map[string]any{"failedAt": "", "healthyAt": "", "rebuildRetryCount": 3}, v.Patches[0].Spec)
}

func TestTheNextAttemptStartsExactlyInTime(t *testing.T) {
	v := decide(attached("a b c", fails("c", 3*time.Second), tried("c", 3), failures(3, 3*time.Second)))
	require.Equal(t, now.Add(7*time.Second), v.RequeueAt)
}

// failures returns the stored failures of rebuilds in a row on the given nodes, of which the last came some time ago.
func failures(count int, d time.Duration, nodes ...string) change {
	return volume(func(v *v1beta2.Volume) {
		f := &v1beta2.RebuildFailures{Count: count, LastFailedAt: ago(d), Message: "It failed.", ByNode: map[string]int{}}
		if pause := rebuildPause.After(count - 1); pause > 0 {
			f.NextAttemptAt = stamp(now.Add(pause - d))
		}
		for _, node := range nodes {
			f.ByNode[node] = count
		}
		v.Status.RebuildFailures = f
	})
}

// fails is a replica that failed in its rebuild.
func fails(node string, d time.Duration) change {
	return func(w *World) {
		failed(node, d)(w)
		w.the(node).Spec.HealthyAt = ""
	}
}

func TestAFailedRebuildIsCountedOnce(t *testing.T) {
	w := attached("a b c", fails("c", time.Second))
	v := decide(w)
	require.Equal(t, &v1beta2.RebuildFailures{Count: 1, ByNode: map[string]int{"c": 1}, LastFailedAt: ago(time.Second),
		Message: "Replica vol-1-r-c on c could not be rebuilt."}, v.Failures)
	require.Equal(t, "take-back:c", reported(v), "once is tried again at once")
	w.Volume.Status.RebuildFailures = v.Failures
	require.Equal(t, v.Failures, decide(w).Failures)

	w.the("c").Spec.FailedAt = ago(0)
	v = decide(w)
	require.Equal(t, 2, v.Failures.Count)
	require.Equal(t, now.Add(5*time.Second).Format(time.RFC3339), v.Failures.NextAttemptAt)
	require.Equal(t, now.Add(5*time.Second), v.RequeueAt)
	require.Contains(t, v.Scheduled.Message,
		"2 rebuilds failed in a row. Replica vol-1-r-c on c could not be rebuilt. The next one begins at ")

	require.Nil(t, decide(attached("a b c", failed("c", 0))).Failures, "a replica that was whole did not fail in a rebuild")
	require.Nil(t, decide(attached("a b c", failures(7, 2*time.Hour, "c"))).Failures, "a success ends the count")
	w = attached("a b", wants(3), failures(7, 25*time.Hour, "c"))
	require.Nil(t, decide(w).Failures, "it is forgotten after a day")
	w = attached("a b c", failures(7, 2*time.Hour, "d"))
	require.Equal(t, map[string]int{"d": 7}, decide(w).Failures.ByNode, "another node may still fail")
	require.Zero(t, decide(w).Failures.Count)
}

// A success clears the stored failures. The replica that failed before it may stay for a while.
func TestAFailureBeforeTheLastSuccessIsNotCountedAgain(t *testing.T) {
	w := attached("a b c d", wants(3), fails("d", 2*time.Hour), failures(1, 2*time.Hour, "c"))
	w.the("d").Spec.NodeID = "c" // on the node of the replica that succeeded an hour ago
	v := decide(w)
	require.Nil(t, v.Failures, "a success ends the count")
	w.Volume.Status.RebuildFailures = v.Failures
	require.Nil(t, decide(w).Failures, "the next evaluation finds the same")
}

// If rebuilds fail on one node, replicas of other nodes still come back: otherwise the volume would have fewer copies for longer.
func TestThePauseAfterFailedRebuildsHoldsNoReplicaThatServed(t *testing.T) {
	w := attached("a b c d", fails("c", time.Minute), failures(9, time.Minute, "c"))
	v := decide(w)
	require.Empty(t, reported(v))
	require.Equal(t, now.Add(rebuildPause.After(8)-time.Minute), v.RequeueAt)

	failed("b", 0)(&w)
	require.Equal(t, "take-back:b", reported(decide(w)))
	fails("b", 0)(&w)
	v = decide(w)
	require.Empty(t, reported(v), "it failed in its rebuild, too")
	require.Equal(t, 10, v.Failures.Count)
}

func TestTheErrorOfAFailedRebuildIsReported(t *testing.T) {
	w := attached("a b c", fails("c", time.Second), engine(func(e *v1beta2.Engine) {
		e.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.EngineOperations, Status: v1beta2.ConditionFalse,
			Message: "vol-1-e-0 could not add replica vol-1-r-c: no route to host."}}
	}))
	require.Contains(t, decide(w).Failures.Message, "no route to host.")
}

func TestAnotherNodeIsTriedAfterAFewFailures(t *testing.T) {
	check(t, map[string]row{
		"after two failures it is the same node": {attached("a b", wants(3), failures(2, time.Hour, "c")), "create:c", ""},
		"after three it is another one":          {attached("a b", wants(3), failures(3, time.Hour, "c")), "create:d", ""},
		"unless no other one has a place":        {attached("a b", wants(3), failures(3, time.Hour, "c"), closed("d")), "create:c", ""},
		"it waits for a slot there": {attached("a b", wants(3), failures(3, time.Hour, "c"), limit(1), rebuilds("d", 1)),
			"waits-for:d", v1beta2.ReasonRebuildLimit},
	})
}

// B7: each replica that fails is deleted, and each failure counts all the same: there were 216 attempts in an hour.
func TestRebuildsThatAlwaysFailAreTriedEverMoreRarely(t *testing.T) {
	w := attached("a b", wants(3))
	var attempts []time.Time
	nodes := map[string]bool{}
	for w.Now.Before(now.Add(23 * time.Hour)) {
		v := decide(w)
		for _, p := range v.Patches {
			if p.Spec["failedAt"] == "" {
				attempts, nodes[p.Replica.Spec.NodeID] = append(attempts, w.Now), true
			}
		}
		for _, d := range v.Create {
			attempts, nodes[d.Node] = append(attempts, w.Now), true
		}
		done(&w, v)
		w.Replicas = slices.DeleteFunc(w.Replicas, func(r *v1beta2.Replica) bool { return r.DeletionTimestamp != nil })
		next := w.Now.Add(time.Second)
		if reported(v) == "" && !v.RequeueAt.IsZero() {
			next = v.RequeueAt
		}
		w.Now = next
		for _, r := range w.Replicas {
			if r.Spec.NodeID == "c" || r.Spec.NodeID == "d" {
				r.Spec.FailedAt, r.Spec.LastFailedAt = cmp.Or(r.Spec.FailedAt, stamp(w.Now)), stamp(w.Now)
				r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
			}
		}
	}
	require.LessOrEqual(t, len(attempts), 40)
	require.GreaterOrEqual(t, len(attempts), 20)
	require.Equal(t, map[string]bool{"c": true, "d": true}, nodes)
	for i := 3; i < len(attempts); i++ {
		before, pause := attempts[i-1].Sub(attempts[i-2]), attempts[i].Sub(attempts[i-1])
		require.GreaterOrEqual(t, pause+3*time.Second, before, "attempt %d", i)
	}
	require.Equal(t, v1beta2.ReasonRebuildFails, reason(w, Verdict{}))
}

// While a volume moves, no engine gets a replica: one that is to be rebuilt afterwards takes no slot meanwhile.
func TestARebuildTakesNoSlotWhileItsVolumeMoves(t *testing.T) {
	moves := func(w *World) { w.Volume.Spec.MigrationNodeID = "b" }
	ends := func(w *World) { w.Volume.Status.CurrentMigrationNodeID = "b" }
	for name, c := range map[string]struct {
		world World
		waits bool
	}{
		"it is about to be rebuilt":   {attached("a b", wants(3), coming("c")), false},
		"the volume is to move":       {attached("a b", wants(3), coming("c"), moves), true},
		"the move ends":               {attached("a b", wants(3), coming("c"), ends), true},
		"the engine copies to it":     {attached("a b", wants(3), coming("c"), moves, use("c", v1beta2.ReplicaModeWO)), false},
		"the engine is about to copy": {attached("a b", wants(3), coming("c"), moves, use("c", "")), false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.waits, Waits(c.world, c.world.the("c"))) })
	}
}

// B8: a rebuild that waits for a person takes no slot, and the volume's condition has the reason.
func TestARebuildThatItsEngineHoldsReportsWhy(t *testing.T) {
	mapped := func(w *World) {
		coming("c")(w)
		w.the("c").Spec.DesireState, w.the("c").Status.CurrentState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateRunning
		w.Engine.Spec.ReplicaAddressMap[w.the("c").Name] = "c"
	}
	full := engine(func(e *v1beta2.Engine) {
		e.Status.SnapshotMaxCount = 1
		e.Status.Snapshots = map[string]v1beta2.SnapshotInfo{"s": {Name: "s", UserCreated: true}, "volume-head": {Name: "volume-head"}}
	})
	restores := engine(func(e *v1beta2.Engine) {
		e.Status.RestoreStatus = map[string]v1beta2.RestoreStatus{"tcp://a": {IsRestoring: true}}
	})
	for name, c := range map[string]struct {
		world World
		waits string
	}{
		"at the limit of snapshots": {attached("a b", wants(3), mapped, full), "delete some, or raise snapshotMaxCount"},
		"beside a restore":          {attached("a b", wants(3), mapped, restores), "restores a backup"},
		"no restore begins that is to fill it": {attached("a b", wants(3), mapped, use("c", v1beta2.ReplicaModeWO), engine(filledV1),
			engine(func(e *v1beta2.Engine) {
				e.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.EngineOperations, Status: v1beta2.ConditionFalse,
					Message: "vol-1-e-0 could not begin to restore backup b-1: no such bucket."}}
			})), "no such bucket"},
		"a restore is about to fill it":     {attached("a b", wants(3), mapped, use("c", v1beta2.ReplicaModeWO), engine(filledV1)), ""},
		"below the limit":                   {attached("a b", wants(3), mapped), ""},
		"it is copied to":                   {attached("a b", wants(3), mapped, full, use("c", v1beta2.ReplicaModeWO)), ""},
		"its process does not run yet":      {attached("a b", wants(3), coming("c"), full), ""},
		"a restore fills it at any limit":   {attached("a b", wants(3), mapped, full, engine(filledV1)), ""},
		"nothing is missing: nothing waits": {attached("a b c", full), ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := decide(c.world)
			require.Equal(t, c.waits != "", c.world.the("c") != nil && Waits(c.world, c.world.the("c")))
			if c.waits == "" {
				require.NotEqual(t, v1beta2.ReasonRebuildHeld, reason(c.world, v))
				return
			}
			require.Equal(t, v1beta2.ReasonRebuildHeld, v.Scheduled.Reason)
			require.Contains(t, v.Scheduled.Message, c.waits)
		})
	}
}

// Two missing replicas are rebuilt one after the other: the report ends when the engine takes the first one in, before the second one has
// a place.
func TestAReportOfAHeldRebuildEndsWhenTheRebuildBegins(t *testing.T) {
	w := attached("a", wants(3), coming("c"), use("c", v1beta2.ReplicaModeWO), volume(func(v *v1beta2.Volume) {
		v.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.VolumeScheduled, Status: v1beta2.ConditionFalse,
			Reason: v1beta2.ReasonRebuildHeld, Message: "It is at its limit."}}
	}))
	v := decide(w)
	require.Equal(t, v1beta2.ConditionTrue, v.Scheduled.Status)
	done(&w, v)
	require.Nil(t, decide(w).Scheduled)
}

func filledV1(e *v1beta2.Engine) {
	e.Spec.RequestedBackupRestore, e.Spec.DataEngine = "b-1", v1beta2.DataEngineV1
}

// Failures are forgotten once the replica is in use again.
func TestASuccessEndsTheCount(t *testing.T) {
	v := decide(attached("a b c", tried("c", 3)))
	require.Equal(t, "mark:c", reported(v))
	require.Equal(t, map[string]any{"rebuildRetryCount": 0}, v.Patches[0].Spec)
	require.Empty(t, reported(decide(attached("a b c", tried("c", 3), use("c", v1beta2.ReplicaModeWO)))))
}

func TestNoMoreIsRebuiltOnANodeThanTheSettingAllows(t *testing.T) {
	check(t, map[string]row{
		"a node without a place is passed over": {attached("a b", wants(3), limit(2), rebuilds("c", 2)), "create:d", ""},
		"a node with a place left is taken":     {attached("a b", wants(3), limit(2), rebuilds("c", 1)), "create:c", ""},
		"nodes are waited for when no other is left": {attached("a b", wants(3), limit(1), rebuilds("c", 1), rebuilds("d", 1)),
			"waits-for:c waits-for:d", ""},
		"a node that would not do anyway is not": {attached("a b", wants(3), limit(1), rebuilds("c", 1), closed("c d")), "",
			v1beta2.ReasonAntiAffinity},
		"taking back waits for its own node": {attached("a b c", failed("c", time.Hour), limit(1), rebuilds("c", 1)),
			"waits-for:c", ""},
		"a limit of 0 stops rebuilding": {attached("a b", wants(3), limit(0)),
			"waits-for:a waits-for:b waits-for:c waits-for:d", ""},
		"what it waits for is reported": {attached("a b", wants(3), limit(1), rebuilds("c", 1), rebuilds("d", 1),
			isScheduled(v1beta2.ReasonAntiAffinity)), "waits-for:c waits-for:d", v1beta2.ReasonRebuildLimit},
		"also of one that is to be taken back": {attached("a b c", failed("c", time.Hour), limit(1), rebuilds("c", 1),
			isScheduled(v1beta2.ReasonPlaced)), "waits-for:c", v1beta2.ReasonRebuildLimit},
	})
}

func TestAReplicaWhoseNodeOrDiskIsEvictedGoesAfterAnotherOneCame(t *testing.T) {
	disk := func(w *World) {
		d := w.Nodes["b"].Spec.Disks["disk"]
		d.EvictionRequested = true
		w.Nodes["b"].Spec.Disks["disk"] = d
	}
	marked := replica("b", func(r *v1beta2.Replica) { r.Spec.EvictionRequested = true })
	check(t, map[string]row{
		"another one is created first": {attached("a b", evicted("b")), "create:c mark:b", ""},
		"the same for a disk":          {attached("a b", disk), "create:c mark:b", ""},
		"it stays while that is being rebuilt": {attached("a b c", evicted("b"), marked, wants(2),
			replica("c", func(r *v1beta2.Replica) { r.Spec.HealthyAt = "" }), use("c", v1beta2.ReplicaModeWO)), "", ""},
		"it stays until the engine uses the other": {attached("a b c", evicted("b"), marked, wants(2), use("c", v1beta2.ReplicaModeWO)),
			"", ""},
		"it goes then": {attached("a b c", evicted("b"), marked, wants(2)), "delete:b", ""},
		"the only replica of a volume moves, too": {attached("b c", evicted("b"), marked, wants(1)), "delete:b", ""},
		"it stays where nothing else has a place": {attached("a b", evicted("b"), marked, closed("c d")), "", v1beta2.ReasonAntiAffinity},
		"it stays while the volume is detached":   {attached("a b c", evicted("b"), marked, wants(2), detached), "", ""},
		"it stays while another one goes": {attached("a b c d", evicted("b"), marked, wants(2), deleted("d", time.Hour),
			says("d", v1beta2.ReplicaDataRemovalApproved, v1beta2.ReasonHealthyCopyElsewhere), polled(now)),
			"approve:d=HealthyCopyElsewhere", ""},
		"but not for one whose node is down": {attached("a b c d", evicted("b"), marked, wants(2), deleted("d", time.Hour),
			down("d"), says("d", v1beta2.ReplicaDataRemovalApproved, v1beta2.ReasonHealthyCopyElsewhere), polled(now)),
			"delete:b approve:d=HealthyCopyElsewhere", ""},
		"one on a node that is down is replaced": {attached("a b", evicted("b"), marked, down("b")), "create:c", ""},
		"its node takes its successor on another disk, with as many nodes as replicas": {
			attached("a b", disk, secondDisk("b"), closed("c d")), "create:b mark:b", ""},
		"rather another node": {attached("a b", disk, secondDisk("b"), closed("d")), "create:c mark:b", ""},
		"its zone takes its successor, with as many zones as replicas": {
			attached("a b", evicted("b"), hardZones, inZone("c", "zone-b"), closed("a d")), "create:c mark:b", ""},
		"a zone of another replica does not": {
			attached("a b", evicted("b"), hardZones, inZone("c", "zone-a"), closed("a d")), "mark:b", v1beta2.ReasonAntiAffinity},
		"so it is of the last copy, if that was deleted": {
			attached("a", wants(1), deleted("a", time.Hour), polled(now), secondDisk("a"), closed("b c d")),
			"create:a refuse:a=NoHealthyCopy", ""},
		"and its end is waited for until it failed": {attached("a b c", evicted("b"), marked, wants(2), down("b")), "", ""},
	})
}

// A25: a drain under one of the two policies of evictions ends by itself.
func TestReplicasLeaveADrainedNodeByThePolicy(t *testing.T) {
	under := func(p sharedsetting.DrainPolicy) change {
		return settings(func(v *setting.Values) { v.DrainPolicy = p })
	}
	last, all := under(sharedsetting.BlockForEvictionIfContainsLastReplica), under(sharedsetting.BlockForEviction)
	marked := replica("b", func(r *v1beta2.Replica) { r.Spec.EvictionRequested = true })
	check(t, map[string]row{
		"the last one of its volume gets a successor":    {attached("b", drained("b"), last), "create:a mark:b", ""},
		"and goes once that is healthy":                  {attached("b c", drained("b"), last, marked, wants(1)), "delete:b", ""},
		"one with a copy elsewhere stays":                {attached("a b", drained("b"), last), "", v1beta2.ReasonPlaced},
		"a copy on a node that is drained, too, is none": {attached("b c", drained("b"), drained("c"), last), "create:a mark:b mark:c", ""},
		"nor is one on a cordoned node":                  {attached("b c", drained("b"), cordoned("c"), last), "create:a mark:b", ""},
		"nor on a node that is down":                     {attached("b c", drained("b"), down("c"), last), "create:a mark:b", ""},
		"nor one that failed": {
			attached("b c", drained("b"), failed("c", time.Hour), last), "mark:b take-back:c", ""},
		"each one leaves, if the policy says so":     {attached("a b", drained("b"), all), "create:c mark:b", ""},
		"under any other policy it stays":            {attached("b", drained("b")), "", v1beta2.ReasonPlaced},
		"on a node that takes pods it stays":         {attached("b", last), "", v1beta2.ReasonPlaced},
		"once the node takes pods again it stays":    {attached("b", last, marked), "mark:b", v1beta2.ReasonPlaced},
		"one on a node that went down is waited for": {attached("b", drained("b"), down("b"), all), "", ""},
		"it stays where nothing else has a place": {
			attached("b", drained("b"), last, marked, closed("a c d")), "", v1beta2.ReasonNoUsableNode},
		"one of a detached volume is marked for its ticket": {attached("b", drained("b"), last, detached), "mark:b", ""},
		"no replica is placed on a node that is drained": {
			attached("b", drained("b"), drained("c"), closed("a"), last), "create:d mark:b", ""},
	})
}

func TestWhatIsTooManyGoes(t *testing.T) {
	onA := func(w *World) { w.the("c").Spec.NodeID, w.the("c").Spec.DiskID = "b", "disk-b" }
	check(t, map[string]row{
		"one that failed": {attached("a b c", failed("c", 0), wants(2)), "delete:c", ""},
		"one that failed before one that is too many":  {attached("a b c d", failed("d", 0), wants(2)), "delete:d", ""},
		"one that is too many":                         {attached("a b c", wants(2)), "delete:a", ""},
		"rather one that shares a node":                {attached("a b c", wants(2), onA), "delete:b", ""},
		"never the local one where data is kept local": {attached("a b c", wants(2), locality("best-effort")), "delete:b", ""},
		"not while one of the wanted is rebuilt": {attached("a b c", wants(3), failed("c", 0), down("c"),
			use("b", v1beta2.ReplicaModeWO)), "", ""},
		"one at a time": {attached("a b c d", wants(2)), "delete:a", ""},
		"not while another one goes": {attached("a b c d", wants(2), deleted("a", time.Hour),
			approvedFor("a", v1beta2.ReasonHealthyCopyElsewhere), polled(now)), "approve:a=HealthyCopyElsewhere", ""},
		"not while the volume is detached":         {attached("a b c", wants(2), detached), "", ""},
		"not one that the engine does not use yet": {attached("a b c", wants(2), use("c", "")), "", ""},
	})
}

func TestBestEffortBringsAReplicaToTheVolume(t *testing.T) {
	best := locality("best-effort")
	check(t, map[string]row{
		"one more is created there":                 {attached("b c", best), "create:a", v1beta2.ReasonPlaced},
		"and then another one goes":                 {attached("a b c", best, wants(2)), "delete:b", ""},
		"a lacking one goes there":                  {attached("b c", best, wants(3)), "create:a", ""},
		"without a place there, nothing is amiss":   {attached("b c", best, closed("a")), "", v1beta2.ReasonPlaced},
		"it waits for a rebuild slot":               {attached("b c", best, rebuilds("a", 5)), "waits-for:a", ""},
		"not for a volume that does not ask for it": {attached("b c"), "", v1beta2.ReasonPlaced},
		"one that failed there is taken back":       {attached("a b c", best, wants(2), failed("a", time.Second)), "take-back:a", ""},
		"one that failed elsewhere is not": {attached("b c d", best, wants(2), failed("d", time.Second)), "create:a",
			v1beta2.ReasonPlaced},
		"one that failed too often is left alone for a while": {attached("a b c", best, wants(2), failed("a", time.Minute), tried("a", 5)),
			"", v1beta2.ReasonPlaced},
		"and is given up after that": {attached("a b c", best, wants(2), failed("a", 10*time.Minute), tried("a", 5)),
			"delete:a", v1beta2.ReasonPlaced},
		"another that failed beside it goes": {attached("a b c d", best, wants(2), failed("a", time.Minute), tried("a", 5), failed("d", 0)),
			"delete:d", v1beta2.ReasonPlaced},
	})
}

// Each attempt takes room on the disk, and leaves data on a v1 disk: on one that cannot take the replica there are few.
func TestALocalReplicaThatCannotBeBuiltIsTriedRarely(t *testing.T) {
	w := attached("b c", locality("best-effort"))
	for created, attempts := 0, 0; w.Now.Before(now.Add(time.Hour)); {
		v := decide(w)
		created, attempts = created+len(v.Create), attempts+len(v.Create)
		for _, p := range v.Patches {
			if p.Spec["failedAt"] == "" {
				attempts++
			}
		}
		require.LessOrEqual(t, created, 6, "at %s", w.Now)
		require.LessOrEqual(t, attempts, 36, "at %s", w.Now)
		done(&w, v)
		w.Replicas = slices.DeleteFunc(w.Replicas, func(r *v1beta2.Replica) bool { return r.DeletionTimestamp != nil })
		next := w.Now.Add(time.Second)
		if reported(v) == "" && !v.RequeueAt.IsZero() {
			next = v.RequeueAt
		}
		w.Now = next
		there := 0
		for _, r := range w.Replicas {
			if r.Spec.NodeID == "a" {
				there++
				r.Spec.FailedAt, r.Spec.LastFailedAt = cmp.Or(r.Spec.FailedAt, stamp(w.Now)), stamp(w.Now)
				r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
			}
		}
		require.LessOrEqual(t, there, 1)
	}
}

// No engine marks a replica that is to be rebuilt on a node that goes down: the engine never had it.
func TestAReplicaThatIsStrandedOnADownNodeIsReplaced(t *testing.T) {
	check(t, map[string]row{
		"by another one, and then it goes": {attached("a b", wants(3), coming("c"), down("c")), "create:d delete:c", ""},
		"it is no use where all is well":   {attached("a b", coming("c"), down("c")), "delete:c", ""},
		"the engine's own are the engine's": {attached("a b", wants(3), coming("c"), down("c"), use("c", v1beta2.ReplicaModeWO)), "",
			""},
		"before the first attachment it may wait": {fresh(coming("a"), coming("b"), coming("c"), down("c")), "", ""},
		"never without a healthy one in use": {attached("a b", wants(3), coming("c"), down("c"), use("a", v1beta2.ReplicaModeERR),
			use("b", v1beta2.ReplicaModeERR)), "create:d", ""},
	})
}

// Five attempts, then it is deleted, and another one takes its place.
func TestAReplicaThatCannotBeRebuiltIsReplacedInTheEnd(t *testing.T) {
	w := attached("a b c", failed("c", 0), closed("d"))
	attempts := 0
	for range 20 {
		v := decide(w)
		if len(v.Deletes) > 0 {
			require.Equal(t, "delete:c", reported(v), "the next one comes after the next pause")
			require.Equal(t, 5, attempts)
			require.Equal(t, 40*time.Second, w.Now.Sub(now), "five attempts of a second; the second one comes at once, then the pauses "+
				"double: 5, 10, 20 s")
			return
		}
		if !v.RequeueAt.IsZero() && reported(v) == "" {
			w.Now = v.RequeueAt
			continue
		}
		require.Equal(t, "take-back:c", reported(v))
		attempts++
		w.the("c").Spec.RebuildRetryCount = v.Patches[0].Spec["rebuildRetryCount"].(int)
		w.the("c").Spec.HealthyAt, w.Volume.Status.RebuildFailures = "", v.Failures
		w.Now = w.Now.Add(time.Second)
		w.the("c").Spec.FailedAt = stamp(w.Now) // the machine marks it as failed again
	}
	t.Fatal("it was never deleted")
}

// B3: a restore may take days, and the restore of a standby volume never ends.
func TestAVolumeThatTakesItsDataFromBackupsIsNotLeftAlone(t *testing.T) {
	v1 := func(w *World) { w.Volume.Spec.DataEngine = v1beta2.DataEngineV1 }
	filesystem := func(w *World) {
		for _, n := range w.Nodes {
			n.Spec.Disks["disk"] = v1beta2.DiskSpec{AllowScheduling: true, Path: "/disk"}
		}
	}
	marked := replica("b", func(r *v1beta2.Replica) { r.Spec.EvictionRequested = true })
	check(t, map[string]row{
		"a replica that failed is replaced: a restore fills new ones": {attached("a b c", restored, v1, filesystem, failed("c", 0)),
			"create:d delete:c", ""},
		"also where it takes the only place": {attached("a b c", restored, v1, filesystem, failed("c", 0), closed("d")),
			"create:c delete:c", ""},
		"v2 takes it back":             {attached("a b c", restored, failed("c", 0)), "take-back:c", ""},
		"one that leaves has another":  {attached("a b", restored, v1, filesystem, evicted("b")), "create:c mark:b", ""},
		"and goes once that is filled": {attached("a b c", restored, v1, filesystem, evicted("b"), marked, wants(2)), "delete:b", ""},
		"and stays until then": {attached("a b c", restored, v1, filesystem, evicted("b"), marked, wants(2),
			replica("c", func(r *v1beta2.Replica) { r.Spec.HealthyAt = "" }), use("c", v1beta2.ReplicaModeWO)), "", ""},
		"a standby volume on a drained node": {attached("b", restored, v1, filesystem, drained("b"),
			settings(func(s *setting.Values) { s.DrainPolicy = sharedsetting.BlockForEvictionIfContainsLastReplica })),
			"create:a mark:b", ""},
	})
}
