package orphan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func instanceManaged(name string) change {
	return func(w *World) { w.Orphan.Spec.Parameters[v1beta2.OrphanParameterInstanceManager] = name }
}

func ofEngine(w *World) {
	w.Orphan.Spec.OrphanType = v1beta2.OrphanTypeEngineInstance
	instanceNamed("vol-1-e-0")(w)
}

// engineClaims makes the Engine of the instance's name, which is to run in that instance manager.
func engineClaims(instanceManager, nodeID string) change {
	return func(w *World) {
		w.Engine = &v1beta2.Engine{}
		w.Engine.Spec.DesireState, w.Engine.Spec.NodeID = v1beta2.InstanceStateRunning, nodeID
		w.Engine.Status.InstanceManagerName = instanceManager
	}
}

// A message is for a person: it names the object, the cause, and the next step where there is one.
func TestAMessageNamesTheObjectTheCauseAndTheNextStep(t *testing.T) {
	const update = " is executed. Update orphan-controller."
	directory := func(changes ...change) World {
		return quiet(append([]change{ofType(v1beta2.OrphanTypeReplicaData), instanceManagerAbsent}, changes...)...)
	}
	byPolicy := func(w *World) { approvedByPolicy(w); deletedByPerson(w) }
	for sentence, c := range map[string]struct {
		world World
		want  string
	}{
		"an approval of an instance": {quiet(deletedByPerson),
			"im-monitor may delete instance " + replica1 + " with UUID uuid-1 from im-1."},
		"an approval of data": {quiet(onBlockDisk, deletedByPerson),
			"im-monitor may destroy the data of " + replica1 + " on disk disk-1 (UUID uuid-a) of node node-1."},
		"a person's deletion of a last copy": {quiet(deletedByPerson, volumeExists), "im-monitor may delete instance " + replica1 +
			" with UUID uuid-1 from im-1. Warning: Volume vol-1 exists and no other replica of it is known to be healthy: " + replica1 +
			" may be its last copy."},
		"a policy's approval warns of nothing": {quiet(autoDeletionOn, volumeExists, another()),
			"im-monitor may delete instance " + replica1 + " with UUID uuid-1 from im-1."},
		"a last copy of a PersistentVolume": {quiet(autoDeletionOn, persistentVolumeExists), "A PersistentVolume of volume vol-1 exists and " +
			"no other replica of it is known to be healthy: " + replica1 + " may be its last copy. Delete the orphan by hand if the copy is " +
			"not needed."},
		"a name without a volume": {quiet(autoDeletionOn, instanceNamed("strange")), "The name of instance strange does not contain its " +
			"volume, so it may be the last copy of one. Delete the orphan by hand if the copy is not needed."},
		"a claim of a replica": {quiet(deletedByPerson, claim(v1beta2.InstanceStateRunning, "im-1", "node-1")), "Replica " + replica1 +
			" wants this instance to run in im-1: it is not deleted. im-monitor withdraws the orphan once it sees the same."},
		"a claim of an engine": {quiet(deletedByPerson, ofEngine, engineClaims("im-1", "node-1")), "Engine vol-1-e-0 wants this instance to " +
			"run in im-1: it is not deleted. im-monitor withdraws the orphan once it sees the same."},
		"a claim of data": {quiet(onBlockDisk, deletedByPerson, claim(v1beta2.InstanceStateStopped, "", "node-2")), "Replica " + replica1 +
			" exists: its data is not destroyed. im-monitor withdraws the orphan once it sees the same."},
		"nobody gave the instance up": {quiet(autoDeletionOn, neverGivenUp, volumeExists), "No Engine or Replica of the name " + replica1 +
			" exists, and attach-controller did not record that it gave this instance up: the objects may be missing, as after restoring an " +
			"earlier state of etcd. Nothing is deleted by policy. Restore the objects; or, if the instance is not needed, delete the orphan " +
			"by hand, or record that it is given up with kubectl drover orphans accept orphan-1"},
		"an engine uses a replica without a name": {quiet(autoDeletionOn, volumeExists, func(w *World) { w.UsesUnnamed = "vol-1-e-0" }),
			"Engine vol-1-e-0 uses a replica that no Replica object names, and " + replica1 +
				" may be it: no policy deletes it. Delete the orphan by hand if the engine does not need it."},
		"data of another cluster": {quiet(onBlockDisk, replicaDataOn, evaluatedBy(v1beta2.ReasonForeignData)), "The data of " + replica1 +
			" was on its disk when that disk came to this cluster, so no policy deletes it. Delete the orphan by hand if the data is not " +
			"needed."},
		"a young one":   {quiet(autoDeletionOn, aged(time.Minute)), "Auto deletion follows at 2026-08-01T12:04:00Z."},
		"others first":  {quiet(autoDeletionOn, inFlight(10)), "10 deletions by policy are under way on node node-1; this one follows."},
		"only reported": {quiet(autoDeletionOn, dryRunOn), dryRunMessage},
		"an unreadable setting": {quiet(autoDeletionUnreadable),
			"The setting orphan-resource-auto-deletion cannot be read; nothing is deleted by it."},
		"unreadable after a deletion": {quiet(autoDeletionUnreadable, byPolicy), "The orphan was deleted by policy, and now the setting " +
			"orphan-resource-auto-deletion cannot be read: its instance is left alone until the setting is repaired."},
		"off after a deletion": {quiet(byPolicy), "The orphan was deleted by policy (AutoDeletion), which no longer holds: its instance is " +
			"left alone. Add the item instance to the setting orphan-resource-auto-deletion to let it continue."},
		"off after a hold": {quiet(heldBackFor(v1beta2.ReasonFlood)), "Auto deletion is off. When it is turned on again, this orphan is not " +
			"counted as part of a flood any more; a last copy is still held."},
		"an instance manager that is gone": {quiet(instanceManagerAbsent),
			"Instance manager im-1 does not exist any more: the orphan ends without a call."},
		"a node that is gone": {quiet(nodeAbsent), "Node node-1 is down or deleted: the orphan ends without a call. If the node comes back " +
			"with instance " + replica1 + " still orphaned, a new orphan appears."},
		"a directory": {directory(deletedByPerson),
			"The orphan ends; the replica directory stays on its disk, since this version deletes no data of orphaned directories."},
		"a directory that policy removes": {directory(replicaDataOn),
			"Auto deletion ends the orphan; the replica directory stays on its disk, since this version deletes no data of orphaned directories."},
		"a young directory": {directory(replicaDataOn, aged(time.Minute)),
			"Auto deletion removes this CR at 2026-08-01T12:04:00Z; the replica directory itself will stay."},
		"data out of reach": {quiet(onBlockDisk, deletedByPerson, without(v1beta2.OrphanDataCleanable)), "im-monitor does not report that " +
			"the data can be destroyed on its disk (DataCleanable); nothing is executed. Check that im-monitor runs."},
		"no evaluation": {quiet(deletedByPerson, without(v1beta2.OrphanOrphaned)), "im-monitor has never evaluated this orphan, so nothing " +
			"is executed. Unless it does by 2026-08-01T12:09:50Z, the orphan ends."},
		"a type of a newer version": {quiet(ofType("shard")),
			`Orphans of type "shard" are not known to this version of orphan-controller; nothing` + update},
		"a rule of a newer version": {quiet(evaluatedBy("Drifted")), "im-monitor found the instance orphaned by the rule Drifted, which this " +
			"version of orphan-controller does not know; nothing" + update},
		"a withdrawal of a newer version": {quiet(withdrawnFor("Drifted")), "im-monitor withdrew the orphan with a reason that this version " +
			"of orphan-controller does not know; nothing" + update},
		"an end of a newer version": {quiet(with(v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, "Drifted")), "im-monitor reports that " +
			"the instance is not there, with a reason that this version of orphan-controller does not know; nothing" + update},
		"only foreign finalizers": {quiet(deletedByPerson, released1), "The orphan waits for finalizers of others."},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.want, v.Message)
			if stored := conditions.Get(v.Conditions, v1beta2.OrphanCleanupApproved); stored != nil {
				require.Equal(t, c.want, stored.Message, "what is stored is what is decided")
			}
			again := Decide(after(c.world, v))
			require.NotEqual(t, StepConditions, again.Step, "stored once, it is not written again")
		})
	}
}

const dryRunMessage = "Dry run: without --dry-run-auto-deletion this orphan, of instance " + replica1 + ", would be deleted now."

func TestThePolicyThatDeletesIsOnRecord(t *testing.T) {
	recorded := func(w World) string {
		return conditions.Get(Decide(w).Conditions, v1beta2.OrphanDeletionReason).Message
	}
	require.Equal(t, "The setting orphan-resource-auto-deletion asks for it.", recorded(quiet(autoDeletionOn)))
	require.Equal(t, "Node node-1 is being evicted.", recorded(quiet(evicting)))
	require.Equal(t, "Node node-1 is being evicted.", recorded(quiet(evicting, autoDeletionOn)), "eviction does not wait, so it comes first")
}

// Which volume an instance is of decides what other copies count, so it comes out of the form of exactly its kind of name.
func TestTheVolumeOfAnOrphanIsThatOfItsKindOfName(t *testing.T) {
	volume := func(changes ...change) string { return VolumeOf(quiet(changes...).Orphan) }
	require.Equal(t, "vol-1", volume())
	require.Equal(t, "vol-1", volume(ofEngine))
	require.Equal(t, "vol-1", volume(onBlockDisk))
	require.Empty(t, volume(ofType(v1beta2.OrphanTypeEngineInstance)), "a replica's name is none of an engine")
	require.Empty(t, volume(instanceNamed("vol-1-e-0")), "nor the other way round")
}

// An Engine claims what is to run in exactly this instance manager; one that has none yet, what is on its node.
func TestAnEngineClaimsOnlyItsOwnInstance(t *testing.T) {
	claims := func(changes ...change) bool { return Claims(quiet(append([]change{ofEngine}, changes...)...)) }
	stopped := func(w *World) { w.Engine.Spec.DesireState = v1beta2.InstanceStateStopped }
	require.False(t, claims(), "there is none")
	require.True(t, claims(engineClaims("im-1", "node-1")))
	require.True(t, claims(engineClaims("", "node-1")), "it is about to start here")
	require.False(t, claims(engineClaims("", "node-2")))
	require.False(t, claims(engineClaims("im-2", "node-1")), "it runs in another one of this node")
	require.False(t, claims(engineClaims("im-1", "node-1"), instanceManaged("im-2")))
	require.False(t, claims(engineClaims("im-1", "node-1"), stopped))
	require.False(t, claims(claim(v1beta2.InstanceStateRunning, "im-1", "node-1")), "a Replica claims no engine")
	require.False(t, claims(engineClaims("im-1", "node-1"), ofType("shard")), "of an unknown type nothing is claimed")
}

// A record is of exactly one instance: name, UUID and data engine. Unknown is not the same as an equal unknown.
func TestARecordOfAnotherInstanceReleasesNothing(t *testing.T) {
	held := want{}.held(v1beta2.ReasonNotAbandoned)
	table{
		"another UUID":             {quiet(autoDeletionOn, givenUp("uuid-2", v1beta2.DataEngineV2)), held},
		"the other data engine":    {quiet(autoDeletionOn, givenUp("uuid-1", v1beta2.DataEngineV1)), held},
		"a record without a UUID":  {quiet(autoDeletionOn, givenUp("", v1beta2.DataEngineV2), uuidOf("")), held},
		"an orphan without a UUID": {quiet(autoDeletionOn, givenUp("uuid-1", v1beta2.DataEngineV2), uuidOf("")), held},
		"exactly this one":         {quiet(autoDeletionOn, givenUp("uuid-1", v1beta2.DataEngineV2)), approvedPolicy(v1beta2.ReasonAutoDeletion)},
	}.run(t)
}

func uuidOf(uuid string) change {
	return func(w *World) { w.Orphan.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID] = uuid }
}

func TestLimitsMakeSenseUpToTheirEnds(t *testing.T) {
	least := Limits{FloodCount: 1, FloodWindow: time.Second, InFlightPerNode: 1}
	require.NoError(t, least.Validate())
	least.FloodPercent = 100
	require.NoError(t, least.Validate())
	least.FloodPercent = -1
	require.EqualError(t, least.Validate(), "flood percent -1: give 0 to 100")
}

// A clock that is set back makes the wait longer, and never deletes.
func TestAClockThatIsSetBackOnlyWaits(t *testing.T) {
	ahead := func(w *World) { w.Orphan.CreationTimestamp = metav1.NewTime(noon.Add(time.Hour)) }
	table{
		"the grace period": {quiet(autoDeletionOn, ahead),
			want{requeueAt: noon.Add(time.Hour + 5*time.Minute)}.held(v1beta2.ReasonGracePeriod)},
		"the evaluation": {quiet(deletedBefore(-time.Hour), without(v1beta2.OrphanOrphaned)),
			want{requeueAt: noon.Add(time.Hour + 10*time.Minute)}.held(v1beta2.ReasonNotJudged)},
	}.run(t)
}

// Whatever a rule clears while the orphan is being deleted: who deleted it stays on record.
func TestTheReasonOfADeletionOutlivesClearedConditions(t *testing.T) {
	cleared := func(changes ...change) []v1beta2.Condition {
		return wanted(quiet(append([]change{approvedByPolicy}, changes...)...), *leaveAlone(World{}))
	}
	require.Empty(t, cleared())
	left := cleared(deletedByPerson)
	require.Len(t, left, 1)
	require.Equal(t, v1beta2.OrphanDeletionReason, left[0].Type)
}
