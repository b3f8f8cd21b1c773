package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	ofVolume  = v1beta2.ReasonVolumeDeleting
	elsewhere = v1beta2.ReasonHealthyCopyElsewhere
)

// removing is a directory whose removal began.
func removing(node string) change {
	return replica(node, func(r *v1beta2.Replica) {
		r.Status.Conditions = append(r.Status.Conditions, v1beta2.Condition{Type: v1beta2.ReplicaDataRemoved, Status: v1beta2.ConditionFalse,
			Reason: v1beta2.ReasonRemoving})
	})
}

func volumeDeleted(w *World) { w.Volume.DeletionTimestamp = &metav1.Time{Time: now} }

func noVolume(w *World) { w.Volume = nil }

func v1(node string) change {
	return replica(node, func(r *v1beta2.Replica) {
		r.Spec.DataEngine, r.Spec.DataDirectoryName = v1beta2.DataEngineV1, vol+"-of-"+node
	})
}

// isStopped is a replica that the machine let go and im-monitor stopped.
func isStopped(node string) change {
	return func(w *World) {
		r := w.the(node)
		r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
		delete(w.Engine.Spec.ReplicaAddressMap, r.Name)
	}
}

// architecture.md, section 2: "destroy a replica's data".
func TestDataIsDestroyedOnlyWithAnotherCopy(t *testing.T) {
	another := func(w *World) { w.Volume.UID = "uid-2" }
	anonymous := replica("a", func(r *v1beta2.Replica) { r.OwnerReferences = nil })
	check(t, map[string]row{
		"the volume is being deleted": {attached("a", deleted("a", 0), volumeDeleted), "approve:a=VolumeDeleting",
			""},
		"the volume is gone":                     {attached("a", deleted("a", 0), noVolume), "approve:a=VolumeDeleting", ""},
		"the volume of that name is another one": {attached("a", deleted("a", 0), another), "approve:a=VolumeDeleting", ""},
		"a replica without an owner is the volume's": {attached("a", deleted("a", 0), another, anonymous),
			"create:b refuse:a=NoHealthyCopy", ""},
		"all of them at once, when the volume goes": {attached("a b", deleted("a", 0), deleted("b", 0), volumeDeleted),
			"approve:a=VolumeDeleting approve:b=VolumeDeleting", ""},
		"it is the last one": {attached("a", deleted("a", time.Hour), polled(now)),
			"create:b refuse:a=NoHealthyCopy", ""},
		"the other one has failed": {attached("a b", deleted("a", time.Hour), failed("b", time.Hour),
			polled(now), closed("a b c d"), tried("b", 5)), "refuse:a=NoHealthyCopy", ""},
		"the other one was never rebuilt": {attached("a", deleted("a", time.Hour), coming("b"), polled(now)),
			"refuse:a=NoHealthyCopy", ""},
		"the other one's node is down": {attached("b a", deleted("b", time.Hour), down("a"), polled(now)),
			"refuse:b=NoHealthyCopy", ""},
		"the other one's node is gone": {attached("b c", deleted("b", time.Hour), gone("c"), polled(now),
			closed("a b d")), "refuse:b=NoHealthyCopy", ""},
		"the other one goes, too": {attached("a b", deleted("a", time.Hour), deleted("b", time.Hour),
			polled(now)), "create:c refuse:a=NoHealthyCopy refuse:b=OtherReplicaFirst", ""},
		"the volume is detached": {attached("a b", deleted("a", time.Hour), detached),
			"refuse:a=WaitingForLook", ""},
		"the engine's node is down": {attached("b c d", deleted("b", time.Hour), down("a"), polled(now)),
			"refuse:b=WaitingForLook", ""},
		"no poll was requested for it: one is": {attached("a b", deleted("a", time.Hour), asked(now), answers(now), wants(1)),
			"refuse:a=WaitingForLook poll", ""},
		"the one that was is not answered yet": {attached("a b", deleted("a", time.Hour), polled(now), answers(now.Add(-time.Minute)),
			wants(1)), "refuse:a=WaitingForLook", ""},
		"it was recorded, and the engine did not get it": {attached("a b", deleted("a", time.Hour), polled(now),
			asked(now.Add(-time.Minute)), answers(now.Add(-time.Minute)), wants(1)), "refuse:a=WaitingForLook poll", ""},
		"another one took its place": {attached("a b", deleted("a", time.Hour), polled(now), asked(now.Add(time.Minute)),
			answers(now.Add(-time.Minute)), wants(1)), "refuse:a=WaitingForLook poll", ""},
		"another one took its place, and was answered": {attached("a b", deleted("a", time.Hour), polled(now), asked(now.Add(time.Minute)),
			answers(now.Add(time.Minute)), wants(1)), "refuse:a=WaitingForLook poll", ""},
		"it was answered before another one was requested": {attached("a b", deleted("a", time.Hour), polled(now),
			asked(now.Add(time.Minute)), wants(1)), "approve:a=HealthyCopyElsewhere", ""},
		"the poll shows the other one being rebuilt": {attached("a b", deleted("a", time.Hour), polled(now),
			use("b", v1beta2.ReplicaModeWO), asked(now), wants(1)), "refuse:a=WaitingForLook", ""},
		"the poll shows the other one dropped": {attached("a b", deleted("a", time.Hour), polled(now),
			use("b", v1beta2.ReplicaModeERR), asked(now), wants(1)), "refuse:a=WaitingForLook", ""},
		"the poll shows another one RW": {attached("a b", deleted("a", time.Hour), polled(now), wants(1)),
			"approve:a=HealthyCopyElsewhere", ""},
		"one that failed and is deleted needs the same": {attached("a b", failed("b", time.Hour), deleted("b", time.Hour),
			polled(now), wants(1)), "approve:b=HealthyCopyElsewhere", ""},
	})
}

// asked is when a poll was requested last.
func asked(at time.Time) change {
	return engine(func(e *v1beta2.Engine) { e.Spec.LookRequestedAt = stamp(at) })
}

// Three clocks are at work: the deletion carries the API server's, requests carry ours or that of another process.
func TestAPollIsRequestedOnceWhateverTheClocks(t *testing.T) {
	for sentence, c := range map[string]struct{ deleted, asked time.Duration }{
		"all are the same":                        {time.Minute, -2 * time.Minute},
		"the API server is an hour ahead":         {-time.Hour, -2 * time.Minute},
		"the API server is an hour behind":        {time.Hour, -2 * time.Minute},
		"who polled before is an hour ahead":      {time.Minute, time.Hour},
		"who polled before is an hour behind":     {time.Minute, -time.Hour},
		"another poll was requested this instant": {0, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := attached("a b", deleted("a", c.deleted), wants(1), asked(now.Add(c.asked)), answers(now.Add(c.asked)))
			v := decide(w)
			require.Equal(t, "refuse:a=WaitingForLook poll", reported(v), "the earlier poll proves nothing")
			require.True(t, parse(v.Poll).After(now.Add(c.asked)), "no earlier poll can have answered it")
			require.Equal(t, v.Poll, v.Approvals[0].LookRequestedAt)
			require.Zero(t, v.RequeueAt, "only the poll is waited for")
			done(&w, v)
			again := decide(w)
			require.Empty(t, again.Poll+reported(again), "it was requested already")
			w.Engine.Status.LookedAt = v.Poll
			again = decide(w)
			require.Equal(t, "approve:a=HealthyCopyElsewhere", reported(again))
			done(&w, again)
			w.Engine.Spec.LookRequestedAt = stamp(parse(v.Poll).Add(time.Second))
			w.Engine.Status.LookedAt = w.Engine.Spec.LookRequestedAt
			require.Empty(t, reported(decide(w)), "a later poll shows it as well")
		})
	}
}

func TestReplicasOfAVolumeGoOneAfterTheOther(t *testing.T) {
	three := []change{deleted("a", 2*time.Hour), deleted("b", time.Hour), polled(now), wants(1)}
	with := func(more ...change) World { return attached("a b c", append(append([]change{}, three...), more...)...) }
	check(t, map[string]row{
		"the one that was deleted first": {with(), "approve:a=HealthyCopyElsewhere refuse:b=OtherReplicaFirst", ""},
		"the approved one continues, though deleted later": {with(approvedFor("b", elsewhere)),
			"refuse:a=OtherReplicaFirst approve:b=HealthyCopyElsewhere", ""},
		"one on a down node delays no other": {with(down("b"), says("b", v1beta2.ReplicaDataRemovalApproved, elsewhere),
			use("a", v1beta2.ReplicaModeRW)), "refuse:a=OtherReplicaFirst refuse:b=OtherReplicaFirst", ""},
		"once its approval was taken back": {with(down("b")),
			"approve:a=HealthyCopyElsewhere refuse:b=OtherReplicaFirst", ""},
	})
}

// The reason of an approval has to hold until the end.
func TestAnApprovalIsTakenBackWhenItsPremiseFalls(t *testing.T) {
	given := []change{deleted("a", time.Hour), approvedFor("a", elsewhere), wants(1), polled(now)}
	with := func(more ...change) World { return attached("a b", append(append([]change{}, given...), more...)...) }
	check(t, map[string]row{
		"the other one failed":             {with(failed("b", 0), tried("b", 5)), "create:c refuse:a=NoHealthyCopy", ""},
		"the other one's node went down":   {with(down("b")), "refuse:a=NoHealthyCopy", ""},
		"the other one is deleted":         {with(deleted("b", 0)), "create:c refuse:a=NoHealthyCopy refuse:b=OtherReplicaFirst", ""},
		"the engine dropped the other one": {with(use("b", v1beta2.ReplicaModeERR), asked(now)), "refuse:a=WaitingForLook", ""},
		"the volume was detached":          {with(detached), "refuse:a=WaitingForLook", ""},
		"the volume is not deleted at all": {attached("a", deleted("a", time.Hour), approvedFor("a", ofVolume)),
			"create:b refuse:a=NoHealthyCopy", ""},
		"the removal of its directory began": {with(v1("a"), removing("a"), down("b")), "", ""},
	})
}

func TestAReplicaIsLetGoWhenNothingIsLeftOfIt(t *testing.T) {
	yes := []change{deleted("a", time.Hour), volumeDeleted, says("a", v1beta2.ReplicaDataRemovalApproved, ofVolume),
		replica("a", func(r *v1beta2.Replica) {
			r.Status.Conditions[0].Message = "Volume vol-1 is being deleted, or gone."
		})}
	with := func(more ...change) World { return attached("a", append(append([]change{}, yes...), more...)...) }
	empty := replica("a", func(r *v1beta2.Replica) { r.Status.CurrentState, r.Spec.DesireState = "", v1beta2.InstanceStateStopped })
	starting := replica("a", func(r *v1beta2.Replica) { r.Status.Starting = true })
	check(t, map[string]row{
		"v1: not while it runs":              {with(v1("a")), "", ""},
		"v1: not when it has stopped only":   {with(v1("a"), isStopped("a")), "", ""},
		"v1: when its directory was removed": {with(v1("a"), isStopped("a"), dataRemoved("a")), "release:a", ""},
		"v1: when it never had a directory": {with(v1("a"), empty, replica("a", func(r *v1beta2.Replica) { r.Spec.DataDirectoryName = "" })),
			"release:a", ""},
		"v1: not while its directory is being removed": {with(v1("a"), isStopped("a"), removing("a")), "", ""},
		"v1: not while it is being started":            {with(v1("a"), empty, starting), "", ""},
		"v1: not while it must run": {with(v1("a"), isStopped("a"),
			replica("a", func(r *v1beta2.Replica) { r.Spec.DesireState = v1beta2.InstanceStateRunning })), "", ""},
		"v1: when its node is gone": {with(v1("a"), gone("a")), "release:a", ""},
		"v1: not before it is approved": {attached("a", deleted("a", time.Hour), v1("a"), isStopped("a")),
			"refuse:a=NoHealthyCopy", ""},
		"v1: the approval is written first": {attached("a", deleted("a", time.Hour), v1("a"), isStopped("a"),
			volumeDeleted), "approve:a=VolumeDeleting", ""},
		"v2: not when it has stopped only":                       {with(isStopped("a")), "", ""},
		"v2: not when its node is gone, before that is reported": {with(gone("a")), "", ""},
		"v2: when its data was removed":                          {with(isStopped("a"), dataRemoved("a")), "release:a", ""},
		"v2: what is removed needs no approval any more": {attached("a b", deleted("a", time.Hour), dataRemoved("a"), detached),
			"release:a", ""},
		"v2: not when a removal failed": {with(isStopped("a"), replica("a", func(r *v1beta2.Replica) {
			r.Status.Conditions = append(r.Status.Conditions,
				v1beta2.Condition{Type: v1beta2.ReplicaDataRemoved, Status: v1beta2.ConditionFalse})
		})), "", ""},
		"who has no finalizer of ours is not ours": {with(isStopped("a"), dataRemoved("a"),
			replica("a", func(r *v1beta2.Replica) { r.Finalizers = []string{"other"} })), "", ""},
		"a replica that is not deleted is not released": {attached("a b", dataRemoved("a")), "", ""},
	})
}

func TestARefusalReportsTheNextStep(t *testing.T) {
	message := func(w World) string { return decide(w).Approvals[0].Message }
	require.Equal(t, "No other replica of the volume is healthy: its data may be the last copy. It goes when another replica is "+
		"healthy, or when the volume is deleted.",
		message(attached("a", deleted("a", 0))))
	require.Equal(t, "Replica vol-1-r-b seems healthy, but only a running engine can show that: attach the volume, or delete it.",
		message(attached("a b", deleted("a", 0), detached)))
	require.Equal(t, "Waiting for a poll of engine vol-1-e-0 that is newer than the deletion and shows another replica in mode RW.",
		message(attached("a b", deleted("a", 0))))
	require.Equal(t, "Replica vol-1-r-b on b has the data.",
		message(attached("a b", deleted("a", time.Hour), polled(now), wants(1))))
}

// K1: the second process of a migration has no data of its own: its deletion needs no approval, and is complete once it has ended.
func TestASecondProcessIsReleasedWhenItHasEnded(t *testing.T) {
	w := attached("a b")
	second := newReplica("a")
	second.Name, second.DeletionTimestamp = vol+"-r-second", &metav1.Time{Time: w.Now}
	second.Spec.DataEngine, second.Spec.DataDirectoryName, second.Spec.DesireState = v1beta2.DataEngineV1, "dir", v1beta2.InstanceStateStopped
	w.Second = []*v1beta2.Replica{second}
	w.the("a").Spec.DataEngine, w.the("a").Spec.DataDirectoryName = v1beta2.DataEngineV1, "dir"
	v := Decide(w)
	require.Empty(t, v.Release, "it runs")
	require.Empty(t, v.Approvals)
	second.Status.CurrentState = v1beta2.InstanceStateStopped
	v = Decide(w)
	require.Equal(t, []*v1beta2.Replica{second}, v.Release)
	require.Empty(t, v.Approvals)
	second.DeletionTimestamp = nil
	require.Empty(t, Decide(w).Release)
}

// In the hand-over of a migration two Replicas have one directory. It is removed with one of them: the others end before it, without a
// removal.
func TestADirectoryIsRemovedWithItsLastReplica(t *testing.T) {
	w := attached("a b")
	old, next := newReplica("a"), newReplica("a")
	next.Name = vol + "-r-next"
	for _, r := range []*v1beta2.Replica{old, next} {
		r.Spec.DataEngine, r.Spec.DataDirectoryName, r.Spec.DesireState = v1beta2.DataEngineV1, "dir", v1beta2.InstanceStateStopped
		r.Spec.Active, r.Status.CurrentState = true, v1beta2.InstanceStateStopped
	}
	old.DeletionTimestamp = &metav1.Time{Time: w.Now}
	for sentence, active := range map[string]bool{"it became inactive": false, "both are active": true} {
		old.Spec.Active = active
		w.Replicas, w.Second, w.Previous = append(w.Replicas[:0:0], next), []*v1beta2.Replica{old}, nil
		v := Decide(w)
		require.Equal(t, []*v1beta2.Replica{old}, v.Release, sentence)
		require.Empty(t, v.Approvals, sentence)
	}
	// The volume is gone: both go, the active one last, and with it the directory.
	next.DeletionTimestamp, old.Spec.Active = old.DeletionTimestamp, false
	w.Volume, w.Second = nil, nil
	approve := func(all ...*v1beta2.Replica) {
		w.Replicas = all
		for _, a := range Decide(w).Approvals {
			a.Replica.Status.Conditions = []v1beta2.Condition{a.Condition}
		}
	}
	for _, order := range [][]*v1beta2.Replica{{old, next}, {next, old}} {
		approve(order...)
		require.Equal(t, []*v1beta2.Replica{old}, Decide(w).Release)
	}
	approve(next)
	require.Empty(t, Decide(w).Release, "its directory is still there")
	approve(old)
	require.Empty(t, Decide(w).Release, "a second process may be the last one")
	old.Status.Conditions = append(old.Status.Conditions, v1beta2.Condition{Type: v1beta2.ReplicaDataRemoved, Status: v1beta2.ConditionTrue})
	v := Decide(w)
	require.Equal(t, []*v1beta2.Replica{old}, v.Release)
	require.Empty(t, v.OutOfReach)
}

// Nothing but its object is left of a replica whose node does not exist: that is reported.
func TestADirectoryOnANodeThatIsGoneIsOutOfReach(t *testing.T) {
	w := attached("a", deleted("a", time.Hour), volumeDeleted, v1("a"), gone("a"), approvedFor("a", ofVolume))
	w.the("a").Status.Conditions[0].Message = "Volume vol-1 is being deleted, or gone."
	v := Decide(w)
	require.Equal(t, []*v1beta2.Replica{w.the("a")}, v.Release)
	require.Equal(t, v.Release, v.OutOfReach)
}
