package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func names[T metav1.Object](objects []T) []string {
	var out []string
	for _, object := range objects {
		out = append(out, object.GetName())
	}
	return out
}

func TestANodeHasItsInstanceManagersOfV2(t *testing.T) {
	nodes := []v1beta2.Node{*node("a").Object, *node("b").Object}
	c := New(nodes, []v1beta2.InstanceManager{
		*manager("m-1", "a"), *manager("m-0", "a"), *manager("orphan", "z"),
		*manager("of-v1", "b", func(m *v1beta2.InstanceManager) { m.Spec.DataEngine = v1beta2.DataEngineV1 }),
		*manager("of-a-type", "b", func(m *v1beta2.InstanceManager) { m.Spec.Type = "engine" }),
	})
	require.Equal(t, []string{"m-0", "m-1"}, names(c.Nodes["a"].Managers))
	require.Empty(t, c.Nodes["b"].Managers)
	require.False(t, c.Nodes["z"].Exists(), "an instance manager may outlive its Node")
	require.Equal(t, []string{"orphan"}, names(c.Nodes["z"].Managers))
	require.Same(t, &nodes[1], c.Nodes["b"].Object)
	require.NotNil(t, c.Volumes)
	require.Empty(t, c.Volumes)
}

func TestWhichVolumesCount(t *testing.T) {
	of := func(dataEngine, state string) *v1beta2.Volume {
		return &v1beta2.Volume{Spec: v1beta2.VolumeSpec{DataEngine: dataEngine}, Status: v1beta2.VolumeStatus{State: state}}
	}
	require.True(t, Counts(of(v1beta2.DataEngineV2, v1beta2.VolumeStateAttached), false))
	require.True(t, Counts(of(v1beta2.DataEngineV2, ""), false), "without a state it may be in use")
	require.False(t, Counts(of(v1beta2.DataEngineV2, v1beta2.VolumeStateDetached), false))
	require.True(t, Counts(of(v1beta2.DataEngineV2, v1beta2.VolumeStateDetached), true), "an upgrade has it in its status")
	require.False(t, Counts(of(v1beta2.DataEngineV1, v1beta2.VolumeStateAttached), true))
}

func TestTheInstancesOfAVolumeAreInOrderOfTheirNames(t *testing.T) {
	listed := []v1beta2.Engine{*engine("e-1", "b"), *engine("e-0", "a"),
		*engine("e-x", "a", func(e *v1beta2.Engine) { e.Spec.VolumeName = "unlisted" })}
	replicas := []v1beta2.Replica{*replica("r-b", "b"), *replica("r-a", "a"),
		*replica("r-x", "a", func(r *v1beta2.Replica) { r.Spec.VolumeName = "unlisted" })}

	object := volume().Object
	v := NewVolume(object, listed[:2], replicas[:2])
	require.Same(t, object, v.Object)
	require.Equal(t, []string{"e-0", "e-1"}, names(v.Engines))
	require.Equal(t, []string{"r-a", "r-b"}, names(v.Replicas))

	c := cluster(func(c *Cluster) { c.Volumes["vol"] = Volume{Object: object} })
	c.AddInstances(listed, replicas)
	require.Equal(t, v, c.Volumes["vol"])
	require.Len(t, c.Volumes, 1, "those of a volume that is not there are left out")
	require.Same(t, &listed[1], c.Volumes["vol"].Engines[0], "the objects are not copied")
}

func TestAVolumeKnowsTheClonesThatAreFilledFromIt(t *testing.T) {
	clone := func(name, source, state string) v1beta2.Volume {
		v := v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: name}}
		v.Status.CloneStatus = v1beta2.VolumeCloneStatus{State: state, SourceVolume: source}
		return v
	}
	c := cluster()
	c.AddClones([]v1beta2.Volume{clone("z", "vol", v1beta2.CloneInitiated), clone("done", "vol", v1beta2.CloneCompleted),
		clone("y", "vol", v1beta2.CloneInitiated), clone("other", "unlisted", v1beta2.CloneInitiated), clone("plain", "", "")})
	require.Equal(t, []string{"y", "z"}, c.Volumes["vol"].Clones)
	require.Len(t, c.Volumes, 1)
}

func TestAVolumeKnowsTheWorkThatIsUnderWay(t *testing.T) {
	long := strings.Repeat("long-name-", 10)
	c := cluster(func(c *Cluster) { c.Volumes[long], c.Volumes["idle"] = volume(), volume() })
	snapshot := func(name, volume string, deleted bool) v1beta2.Snapshot {
		s := v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta2.SnapshotSpec{Volume: volume}}
		if s.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.SnapshotRemovalApproved, Status: v1beta2.ConditionTrue}}; deleted {
			s.DeletionTimestamp = going
		}
		return s
	}
	backup := func(name, volume, state string) v1beta2.Backup {
		return v1beta2.Backup{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1beta2.LabelBackupVolume: volume}},
			Status: v1beta2.BackupStatus{State: state}}
	}
	whole := backup("of-long-whole", v1beta2.LabelValue(long), v1beta2.BackupInProgress)
	whole.Status.VolumeName = long
	c.AddWork([]v1beta2.Snapshot{snapshot("s-2", "vol", true), snapshot("s-1", "vol", true), snapshot("kept", "vol", false),
		snapshot("other", "unlisted", true)},
		[]v1beta2.Backup{backup("b-2", "vol", v1beta2.BackupInProgress), backup("b-1", "vol", v1beta2.BackupPending),
			backup("done", "vol", v1beta2.BackupCompleted), backup("other", "unlisted", v1beta2.BackupPending),
			backup("of-long", v1beta2.LabelValue(long), v1beta2.BackupPending), whole})
	require.Equal(t, []string{"s-1", "s-2"}, c.Volumes["vol"].Removals)
	require.Equal(t, []string{"b-1", "b-2"}, c.Volumes["vol"].Backups)
	require.Equal(t, []string{"of-long", "of-long-whole"}, c.Volumes[long].Backups, "a label has the hash of a long name, a status all of it")
	require.Empty(t, c.Volumes["idle"].Removals)
	require.Empty(t, c.Volumes["idle"].Backups)
	require.Len(t, c.Volumes, 3)
}

func TestTheOrderOfTheNodesOfAnUpgrade(t *testing.T) {
	c := cluster(on("e"), on("d"), on("without-v2", with()), func(c *Cluster) {
		c.Volumes["vol-2"] = volume()
		c.Volumes["vol-3"] = volume(engines(engine("e-0", "b")))
		c.Nodes["no-object"] = Node{Managers: node("x").Managers}
		delete(c.Nodes, "c")
	})
	require.Equal(t, []string{"d", "e", "b", "a"}, c.Order(nil), "without instances first, then fewer engines, then by name")
	require.Equal(t, []string{"b", "nowhere", "a"}, c.Order([]string{"b", "nowhere", "b", "a"}), "as named, each once")

	c = cluster(func(c *Cluster) { c.Load = map[string]int{"c": 5, "a": 1} })
	require.Equal(t, []string{"c", "b", "a"}, c.Order(nil), "a node that carries nothing goes before one that carries a replica")
}
