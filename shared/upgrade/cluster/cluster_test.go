package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestASnapshotsDataIsBeingRemovedOnceThatIsApproved(t *testing.T) {
	approved := v1beta2.Condition{Type: v1beta2.SnapshotRemovalApproved, Status: v1beta2.ConditionTrue}
	blocked := v1beta2.Condition{Type: v1beta2.SnapshotRemovalApproved, Status: v1beta2.ConditionFalse}
	gone := v1beta2.Condition{Type: v1beta2.SnapshotWithdrawn, Status: v1beta2.ConditionTrue}
	for sentence, c := range map[string]struct {
		deleted    *metav1.Time
		conditions []v1beta2.Condition
		removing   bool
	}{
		"deleted and approved":        {going, []v1beta2.Condition{approved}, true},
		"something blocks it":         {going, []v1beta2.Condition{blocked}, false},
		"nothing is decided":          {going, nil, false},
		"its data is gone":            {going, []v1beta2.Condition{approved, gone}, false},
		"the Snapshot is not deleted": {nil, []v1beta2.Condition{approved}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: c.deleted}}
			s.Status.Conditions = c.conditions
			require.Equal(t, c.removing, Removing(s))
		})
	}
}

func TestWhichVolumeABackupIsOf(t *testing.T) {
	b := &v1beta2.Backup{}
	require.Empty(t, BackedUp(b))
	b.Labels = map[string]string{v1beta2.LabelBackupVolume: "label"}
	require.Equal(t, "label", BackedUp(b), "before its status is written")
	b.Status.VolumeName = "status"
	require.Equal(t, "status", BackedUp(b))
}

func TestWhichVolumeAnotherIsFilledFrom(t *testing.T) {
	clone := &v1beta2.Volume{}
	clone.Status.CloneStatus = v1beta2.VolumeCloneStatus{State: v1beta2.CloneInitiated, SourceVolume: "vol"}
	require.Equal(t, "vol", FilledFrom(clone))
	for _, state := range []string{v1beta2.CloneCopyCompleted, v1beta2.CloneCompleted, ""} {
		other := clone.DeepCopy()
		other.Status.CloneStatus.State = state
		require.Empty(t, FilledFrom(other), state)
	}
	clone.DeletionTimestamp = going
	require.Empty(t, FilledFrom(clone), "one that is deleted needs no data")
}

func TestTheVolumesAndTargetsOfANode(t *testing.T) {
	c := cluster(func(c *Cluster) {
		c.Volumes["vol-2"] = volume(engines(engine("e-0", "b")))
		c.Volumes["vol-1"] = volume()
		c.Volumes["vol-3"] = volume(volumeState(v1beta2.VolumeStateDetached), engines())
	})
	require.Equal(t, []string{"vol", "vol-1", "vol-2"}, c.On("b"))
	require.Empty(t, c.On("c"))
	require.Equal(t, 2, c.Engines("a"))
	require.Equal(t, 1, c.Engines("b"))
	c.Load = map[string]int{"a": 7}
	require.Equal(t, 7, c.Engines("a"), "a subset of the volumes does not count")
	require.Zero(t, c.Engines("b"))
}

func TestWhichNodeHoldsATargetMeanwhile(t *testing.T) {
	none := put(func(v *Volume) { v.Replicas = v.Replicas[:1] })
	current := with(manager("im", "c", ofImage(newImage)))
	for sentence, c := range map[string]struct {
		cluster Cluster
		coming  map[string]int
		lost    bool
		want    string
	}{
		"a healthy replica goes before the image": {cluster: cluster(on("c", current)), want: "b"},
		"and before a load":                       {cluster: cluster(func(c *Cluster) { c.Load = map[string]int{"b": 9} }), want: "b"},
		"then the image": {cluster: cluster(none, on("c", current), func(c *Cluster) { c.Load = map[string]int{"c": 9} }),
			want: "c"},
		"then the load": {cluster: cluster(none, func(c *Cluster) { c.Load = map[string]int{"b": 2, "c": 1} }), want: "c"},
		"those that come counted": {cluster: cluster(none, func(c *Cluster) { c.Load = map[string]int{"b": 2, "c": 1} }),
			coming: map[string]int{"c": 2}, want: "b"},
		"then the name":                      {cluster: cluster(none), want: "b"},
		"one that is down is none":           {cluster: cluster(on("b", down)), want: "c"},
		"nor one that is upgraded itself":    {cluster: cluster(on("b", cordoned)), want: "c"},
		"nor one that a person keeps free":   {cluster: cluster(on("b", evicted)), want: "c"},
		"a lost target prefers another, too": {cluster: cluster(on("b", evicted)), lost: true, want: "c"},
		"and is served at last where a person keeps free": {cluster: cluster(on("b", evicted), on("c", schedulingOff)), lost: true,
			want: "b"},
		"but not on one that cannot":       {cluster: cluster(on("b", evicted, down), on("c", evicted, cordoned)), lost: true},
		"others wait for the person":       {cluster: cluster(on("b", evicted), on("c", schedulingOff))},
		"the upgraded node is never among": {cluster: cluster(on("b", down), on("c", down)), lost: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.Equal(t, c.want, c.cluster.Temporary(c.cluster.Volumes["vol"], "a", newImage, c.coming, c.lost))
		})
	}
}

func TestWhichReplicasAreHealthy(t *testing.T) {
	first := func(change func(*v1beta2.Replica)) func(*Cluster) {
		return put(func(v *Volume) { change(v.Replicas[0]) })
	}
	ofEngine := func(change func(*v1beta2.Engine)) func(*Cluster) {
		return put(func(v *Volume) { change(v.Engines[0]) })
	}
	for sentence, c := range map[string]struct {
		change func(*Cluster)
		want   []string
	}{
		"read, written and in service": {func(*Cluster) {}, []string{"a", "b"}},
		"one for each replica": {first(func(r *v1beta2.Replica) { r.Spec.NodeID = "b" }),
			[]string{"b", "b"}},
		"in order of the nodes": {first(func(r *v1beta2.Replica) { r.Spec.NodeID = "c" }), []string{"b", "c"}},
		"written only":          {ofEngine(func(e *v1beta2.Engine) { e.Status.ReplicaModeMap["r-a"] = v1beta2.ReplicaModeWO }), []string{"b"}},
		"no longer wanted":      {ofEngine(func(e *v1beta2.Engine) { delete(e.Spec.ReplicaAddressMap, "r-a") }), []string{"b"}},
		"no engine runs":        {ofEngine(stopped), nil},
		"deleted":               {first(func(r *v1beta2.Replica) { r.DeletionTimestamp = going }), []string{"b"}},
		"failed":                {first(func(r *v1beta2.Replica) { r.Spec.FailedAt = "2026-01-01T12:00:00Z" }), []string{"b"}},
		"not running": {first(func(r *v1beta2.Replica) { r.Status.CurrentState = v1beta2.InstanceStateUnknown }),
			[]string{"b"}},
		"its node is down":        {on("a", down), []string{"b"}},
		"its node does not exist": {func(c *Cluster) { delete(c.Nodes, "a") }, []string{"b"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			world := cluster(c.change)
			require.Equal(t, c.want, world.Healthy(world.Volumes["vol"]))
		})
	}
	c := cluster()
	require.Equal(t, 1, c.HealthyBeside(c.Volumes["vol"], "a"))
	require.Equal(t, 2, c.HealthyBeside(c.Volumes["vol"], "c"))
}

func TestWhatIsNotSeenAtTheMoment(t *testing.T) {
	unseenManager := with(manager("m-0", "a"), manager("m-1", "a", inState(v1beta2.InstanceManagerStateUnknown)))
	unseenEngine := put(engines(engine("e-0", "a", states(v1beta2.InstanceStateRunning, v1beta2.InstanceStateUnknown))))
	unseenReplica := func(v *Volume) { v.Replicas[1].Status.CurrentState = v1beta2.InstanceStateUnknown }
	unevaluated := func(v *Volume) { v.Object.Status.Robustness = v1beta2.VolumeRobustnessUnknown }
	elsewhere := func(v *Volume) { v.Engines[0].Spec.NodeID = "c" }
	for sentence, c := range map[string]struct {
		changes []func(*Cluster)
		want    []string
	}{
		"everything is seen":                              {nil, nil},
		"one of the instance managers of a node":          {[]func(*Cluster){on("c", unseenManager)}, []string{"the instance manager of node c"}},
		"those of a node that is down are not waited for": {[]func(*Cluster){on("c", unseenManager, down)}, nil},
		"an engine":                        {[]func(*Cluster){unseenEngine}, []string{"volume vol"}},
		"an engine of a node that is down": {[]func(*Cluster){unseenEngine, on("a", down)}, nil},
		"a replica":                        {[]func(*Cluster){put(unseenReplica)}, []string{"volume vol"}},
		"a replica of a node that is down": {[]func(*Cluster){put(unseenReplica), on("b", down)}, nil},
		"a replica that is to stop": {[]func(*Cluster){put(unseenReplica, func(v *Volume) {
			v.Replicas[1].Spec.DesireState = v1beta2.InstanceStateStopped
		})}, nil},
		"a robustness":                              {[]func(*Cluster){put(unevaluated)}, []string{"volume vol"}},
		"a robustness while its node is down":       {[]func(*Cluster){put(unevaluated), on("a", down)}, nil},
		"a robustness while its frontend's is down": {[]func(*Cluster){put(unevaluated, elsewhere), on("a", down)}, nil},
		"a robustness while its engine's is down":   {[]func(*Cluster){put(unevaluated, elsewhere), on("c", down)}, nil},
		"a robustness while a replica's is down":    {[]func(*Cluster){put(unevaluated), on("b", down)}, []string{"volume vol"}},
		"of a volume that is being attached": {
			[]func(*Cluster){put(unseenReplica, unevaluated, volumeState(v1beta2.VolumeStateAttaching))}, nil},
		"in order, nodes first": {[]func(*Cluster){on("c", unseenManager), on("b", unseenManager), put(unseenReplica),
			func(c *Cluster) { c.Volumes["old"] = volume(unseenReplica) }},
			[]string{"the instance manager of node b", "the instance manager of node c", "volume old", "volume vol"}},
	} {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, c.want, cluster(c.changes...).Unseen()) })
	}
}
