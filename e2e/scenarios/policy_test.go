//go:build !fast

package scenarios

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// O13: with the setting off orphans persist; with replica-data alone instances are kept.
func TestO13OrphansPersistUnlessTheSettingNamesInstances(t *testing.T) {
	for _, value := range []string{"", "replica-data"} {
		t.Run(fmt.Sprintf("%q", value), func(t *testing.T) {
			ctx, s := fixture(t)
			require.NoError(t, s.SetAutoDeletion(ctx, value, "0"))
			stale := staleOf(t, ctx, s, v1beta2.DataEngineV1)
			require.NoError(t, s.Never(ctx, "a deletion", staleTime, s.AnyDeletion))
			require.NoError(t, s.OrphansAre(ctx, stale))
		})
	}
}

// O13: an orphan is deleted right after its grace period, and not before.
func TestO13AutoDeletionKeepsTheGraceExactly(t *testing.T) {
	const grace = 4 * time.Second
	ctx, s := fixture(t)
	require.NoError(t, s.SetAutoDeletion(ctx, "instance", fmt.Sprint(int(grace.Seconds()))))
	stale := staleOf(t, ctx, s, v1beta2.DataEngineV1)[0]
	orphan := &v1beta2.Orphan{}
	require.NoError(t, s.Get(ctx, stale.Orphan(), orphan))
	require.NoError(t, s.WaitCondition(ctx, stale.Orphan(), v1beta2.OrphanCleanupApproved, v1beta2.ConditionFalse,
		v1beta2.ReasonGracePeriod, Patience))
	require.NoError(t, s.WaitOrphanGone(ctx, stale.Orphan(), Patience))

	deletions, err := s.Deletions(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, deletions)
	for _, d := range deletions {
		if d.Name == stale.Name {
			after := d.Time.Sub(orphan.CreationTimestamp.Time)
			require.GreaterOrEqual(t, after, grace)
			// A creation timestamp is truncated to whole seconds.
			require.Less(t, after, grace+3*time.Second, "promptly")
		}
	}
}

// O13: switching the setting off during the grace period cancels the deletion.
func TestO13SwitchedOffDuringTheGraceIsCancelled(t *testing.T) {
	ctx, s := fixture(t)
	require.NoError(t, s.SetAutoDeletion(ctx, "instance", "3"))
	stale := staleOf(t, ctx, s, v1beta2.DataEngineV1)
	require.NoError(t, s.WaitCondition(ctx, stale[0].Orphan(), v1beta2.OrphanCleanupApproved, v1beta2.ConditionFalse,
		v1beta2.ReasonGracePeriod, Patience))
	require.NoError(t, s.Set(ctx, "orphan-resource-auto-deletion", ""))
	require.NoError(t, s.Never(ctx, "a deletion", 5*time.Second, s.AnyDeletion))
	require.NoError(t, s.OrphansAre(ctx, stale))
}

// O13: the last copy of an existing volume is held, and its Orphan reports it.
func TestO13TheLastCopyOfAVolumeIsHeld(t *testing.T) {
	ctx, s := fixture(t)
	require.NoError(t, attached(ctx, s))
	last, err := s.lastCopy(ctx)
	require.NoError(t, err)
	_, err = s.WaitOrphan(ctx, last, Patience)
	require.NoError(t, err)
	require.NoError(t, s.SetAutoDeletion(ctx, "instance", "0"))
	require.NoError(t, s.WaitCondition(ctx, last.Orphan(), v1beta2.OrphanCleanupApproved, v1beta2.ConditionFalse, v1beta2.ReasonLastCopy,
		Patience))
	require.NoError(t, s.Never(ctx, "a deletion", staleTime, s.AnyDeletion))

	// A person's deletion is warned about, and executed.
	s.Allow(last, true)
	require.NoError(t, s.DeleteOrphan(ctx, last.Orphan()))
	require.NoError(t, s.WaitOrphanGone(ctx, last.Orphan(), Patience))
	require.NoError(t, s.Gone(ctx, last))
	require.NoError(t, s.Invariants(ctx))
}

// O13: many disowned instances of a node at once are held: more likely their objects were lost. A node that returns after its volumes
// moved is no flood.
func TestO13AFloodOfDisownedInstancesIsHeldAndAReturningNodeIsNot(t *testing.T) {
	const many = 12
	ctx, s := fixture(t)
	var volumes []*world.Volume
	for range many {
		v, err := s.CreateVolume(ctx, world.Unique("flood"), v1beta2.DataEngineV1, Near, Far)
		require.NoError(t, err)
		volumes = append(volumes, v)
	}
	require.NoError(t, s.WaitOwners(ctx, Patience))
	for _, v := range volumes {
		stale, err := s.World.Stale(ctx, v, Near)
		require.NoError(t, err)
		s.Stale = append(s.Stale, stale...)
	}
	for _, stale := range s.Stale {
		require.NoError(t, s.DisownInstance(ctx, stale))
	}
	for _, stale := range s.Stale {
		_, err := s.WaitOrphan(ctx, stale, Patience)
		require.NoError(t, err)
	}
	require.NoError(t, s.SetAutoDeletion(ctx, "instance", "0"))
	for _, stale := range s.Stale {
		require.NoError(t, s.WaitCondition(ctx, stale.Orphan(), v1beta2.OrphanCleanupApproved, v1beta2.ConditionFalse, v1beta2.ReasonFlood,
			Patience))
	}
	require.NoError(t, s.Never(ctx, "a deletion", time.Second, s.AnyDeletion))
}

func TestO13ANodeThatComesBackAfterItsVolumesMovedIsCleaned(t *testing.T) {
	const many = 12
	ctx, s := fixture(t)
	require.NoError(t, s.SetAutoDeletion(ctx, "instance", "0"))
	for range many {
		v, err := s.CreateVolume(ctx, world.Unique("back"), v1beta2.DataEngineV1, Near, Far)
		require.NoError(t, err)
		stale, err := s.World.Stale(ctx, v, Near)
		require.NoError(t, err)
		s.Stale = append(s.Stale, stale...)
	}
	require.NoError(t, s.CutNode(ctx, Near))
	require.NoError(t, s.WaitNode(ctx, Near, v1beta2.ConditionFalse, Patience))
	for _, stale := range s.Stale {
		s.Allow(stale, true)
		require.NoError(t, s.SetNodeInObject(ctx, stale, Third))
	}
	require.NoError(t, s.JoinNode(ctx, Near))
	for _, stale := range s.Stale {
		require.NoError(t, s.Wait(ctx, "the end of "+stale.Name, 2*Patience, s.goneWhy(stale)))
	}
	require.NoError(t, s.Wait(ctx, "the end of all orphans", Patience, s.NoOrphans))
	require.NoError(t, s.Invariants(ctx))
}

// O15: the old setting is migrated once, with any value of the new one.
func TestO15TheOldSettingIsMigrated(t *testing.T) {
	for sentence, c := range map[string]struct{ old, now, want string }{
		"true becomes replica-data":      {"true", "", "replica-data"},
		"false becomes nothing":          {"false", "", ""},
		"true is added to the value":     {"true", "instance", "instance;replica-data"},
		"true changes no complete value": {"true", "replica-data;instance", "replica-data;instance"},
	} {
		t.Run(sentence, func(t *testing.T) {
			ctx, s := fixture(t)
			require.NoError(t, s.Set(ctx, "orphan-resource-auto-deletion", c.now))
			for range 2 {
				require.NoError(t, s.Set(ctx, "orphan-auto-deletion", c.old))
				require.NoError(t, s.Wait(ctx, "the migration", Patience, s.settingGone("orphan-auto-deletion")))
			}
			setting := &v1beta2.Setting{}
			require.NoError(t, s.Get(ctx, "orphan-resource-auto-deletion", setting))
			require.ElementsMatch(t, items(c.want), items(setting.Value), "got %q", setting.Value)
		})
	}
}

// O12: a scenario covers an evicted node; a deleted node ends its orphans without a call.
func TestO12ADeletedNodeEndsItsOrphansWithoutACall(t *testing.T) {
	ctx, s := fixture(t)
	ghost := world.Stale{Name: "vol-e-0", UUID: "11111111-2222-3333-4444-555555555555", Type: v1beta2.InstanceTypeEngine,
		DataEngine: v1beta2.DataEngineV1, InstanceManager: s.InstanceManager(Near, v1beta2.DataEngineV1), Node: "node-that-was"}
	require.NoError(t, s.Admin.Create(ctx, ghost.Object(s.Namespace)))
	require.NoError(t, s.WaitOrphanGone(ctx, ghost.Orphan(), Patience))
	deleted, err := s.AnyDeletion(ctx)
	require.NoError(t, err)
	require.Empty(t, deleted)
}

// A replica-data orphan that exists already: policy deletes its object, and nothing else happens.
func TestO13AnOrphanOfReplicaDataEndsByItsOwnItem(t *testing.T) {
	ctx, s := fixture(t)
	data := &v1beta2.Orphan{
		ObjectMeta: metav1.ObjectMeta{Name: "orphan-data", Namespace: s.Namespace, Finalizers: []string{v1beta2.Finalizer}},
		Spec: v1beta2.OrphanSpec{NodeID: Near, OrphanType: v1beta2.OrphanTypeReplicaData, Parameters: map[string]string{
			"DataName": "vol-12345678", "DiskName": "disk-1", "DiskUUID": "d", "DiskPath": "/var/lib/longhorn", "DiskType": "filesystem"}},
	}
	require.NoError(t, s.Admin.Create(ctx, data))
	require.NoError(t, s.SetAutoDeletion(ctx, "instance", "0"))
	require.NoError(t, s.Never(ctx, "its end", 2*time.Second, s.orphanThere(data.Name)))
	require.NoError(t, s.SetAutoDeletion(ctx, "replica-data", "0"))
	require.NoError(t, s.WaitOrphanGone(ctx, data.Name, Patience))
}
