package preflight

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/snapshotlimit"
	"drover.dev/drover/shared/upgrade/cluster"
)

// secondEngine adds one to the volume that is not active, as of a migration.
func secondEngine(change func(*v1beta2.Engine)) func(*World) {
	return ofVolume(func(v *cluster.Volume) {
		e := &v1beta2.Engine{}
		change(e)
		v.Engines = append(v.Engines, e)
	})
}

func TestNoReplicaIsBeingRebuilt(t *testing.T) {
	modes := func(names ...string) func(*v1beta2.Engine) {
		return func(e *v1beta2.Engine) {
			if e.Status.ReplicaModeMap == nil {
				e.Status.ReplicaModeMap = map[string]string{}
			}
			for _, name := range names {
				e.Status.ReplicaModeMap[name] = v1beta2.ReplicaModeWO
			}
		}
	}
	status := func(is bool) func(*v1beta2.Engine) {
		return func(e *v1beta2.Engine) {
			e.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"tcp://10.0.0.9:1": {IsRebuilding: is}}
		}
	}
	failed := func(e *v1beta2.Engine) { e.Status.ReplicaModeMap["z"] = v1beta2.ReplicaModeERR }
	hold(t, Rebuilding, "vol", map[string]row{
		"the first by its name is named":  {changes(ofEngine(modes("y", "x"))), "replica x is being rebuilt"},
		"an engine reports it":            {changes(ofEngine(status(true))), "a replica is being rebuilt"},
		"it is over":                      {changes(ofEngine(status(false))), ""},
		"a replica of which it failed":    {changes(ofEngine(failed)), ""},
		"the other engine of a migration": {changes(secondEngine(modes("x"))), "replica x is being rebuilt"},
		"that one reports it":             {changes(secondEngine(status(true))), "a replica is being rebuilt"},
	})
}

func TestAVolumeDoesNotMoveLive(t *testing.T) {
	hold(t, Migrating, "vol", map[string]row{
		"it is to move": {changes(ofObject(migratingTo)), "it moves live to another node"},
		"it moves, and is not to any more": {
			changes(ofObject(func(v *v1beta2.Volume) { v.Status.CurrentMigrationNodeID = "b" })), "it moves live"},
	})
}

func TestAVolumeIsNotBeingExpanded(t *testing.T) {
	size := func(spec, accepted, ofEngine int64) func(*World) {
		return ofVolume(func(v *cluster.Volume) {
			v.Object.Spec.Size, v.Object.Status.AcceptedSize, v.Engines[0].Spec.VolumeSize = spec, accepted, ofEngine
		})
	}
	hold(t, Expanding, "vol", map[string]row{
		"an engine expands": {changes(ofEngine(func(e *v1beta2.Engine) { e.Status.IsExpanding = true })), "it is being expanded"},
		"it is required": {
			changes(ofObject(func(v *v1beta2.Volume) { v.Status.ExpansionRequired = true })), "it is being expanded"},
		"its engine has a smaller size":    {changes(size(2000, 0, 1000)), "it is being expanded"},
		"its engine's size is not known":   {changes(size(2000, 0, 0)), ""},
		"a size that is not accepted yet":  {changes(size(2000, 1000, 1000)), ""},
		"its engine has the accepted size": {changes(size(2000, 2000, 2000)), ""},
		"one that is not active expands":   {changes(secondEngine(func(e *v1beta2.Engine) { e.Status.IsExpanding = true })), ""},
	})
}

func TestAVolumeHasItsDataFromItsBackup(t *testing.T) {
	restore := func(is bool) func(*v1beta2.Engine) {
		return func(e *v1beta2.Engine) {
			e.Status.RestoreStatus = map[string]v1beta2.RestoreStatus{"r": {IsRestoring: is}}
		}
	}
	hold(t, Restoring, "vol", map[string]row{
		"it is required":        {changes(ofObject(func(v *v1beta2.Volume) { v.Status.RestoreRequired = true })), "its data from a backup"},
		"an engine restores":    {changes(ofEngine(restore(true))), "its data from a backup"},
		"another one restores":  {changes(secondEngine(restore(true))), "its data from a backup"},
		"the restore has ended": {changes(ofEngine(restore(false))), ""},
	})
}

func TestAVolumeTakesNoPartInAClone(t *testing.T) {
	state := func(text string) func(*World) {
		return ofObject(func(v *v1beta2.Volume) { v.Status.CloneStatus.State = text })
	}
	clone := func(is bool) func(*v1beta2.Engine) {
		return func(e *v1beta2.Engine) {
			e.Status.CloneStatus = map[string]v1beta2.SnapshotCloneStatus{"r": {IsCloning: is}}
		}
	}
	hold(t, Cloning, "vol", map[string]row{
		"it is filled":          {changes(state(v1beta2.CloneInitiated)), "it gets its data from another volume"},
		"it is copied":          {changes(state(v1beta2.CloneCopyCompleted)), ""},
		"it is done":            {changes(state(v1beta2.CloneCompleted)), ""},
		"its engine clones":     {changes(ofEngine(clone(true))), "it takes part in a clone"},
		"another engine clones": {changes(secondEngine(clone(true))), "it takes part in a clone"},
		"its engine has cloned": {changes(ofEngine(clone(false))), ""},
		"others are filled from it": {changes(ofVolume(func(v *cluster.Volume) { v.Clones = []string{"copy-1", "copy-2"} })),
			"volume copy-1 gets its data from it"},
	})
}

// The upgrade must not stop halfway, where no snapshot can be taken any more.
func TestAVolumeHasRoomForTheSnapshotsOfItsUpgrade(t *testing.T) {
	taken := func(count int) func(*World) {
		return ofEngine(func(e *v1beta2.Engine) {
			e.Status.Snapshots["removed"] = v1beta2.SnapshotInfo{Removed: true}
			for i := range count {
				e.Status.Snapshots[fmt.Sprint("s", i)] = v1beta2.SnapshotInfo{}
			}
		})
	}
	ofVolumeMost := func(count int) func(*World) {
		return ofObject(func(v *v1beta2.Volume) { v.Spec.SnapshotMaxCount = count })
	}
	ofEngineMost := func(count int) func(*World) {
		return ofEngine(func(e *v1beta2.Engine) { e.Status.SnapshotMaxCount = count })
	}
	own := func(name string) func(*World) { return func(w *World) { w.Own = map[string]string{"vol": name} } }
	// A node with the engine alone, which rebuilds nothing.
	alone := func(w *World) { moved("c")(w); of("c")(w) }
	const both = "the upgrade takes one, and the rebuild of its replica another"
	hold(t, SnapshotLimit, "vol", map[string]row{
		"room for both":                        {changes(taken(3), ofVolumeMost(5)), ""},
		"room for one":                         {changes(taken(4), ofVolumeMost(5)), "it has 4 snapshots and may have 5; " + both},
		"the engine allows fewer as yet":       {changes(taken(4), ofVolumeMost(9), ofEngineMost(5)), "it has 4 snapshots and may have 5"},
		"the engine allows more as yet":        {changes(taken(4), ofVolumeMost(5), ofEngineMost(9)), "it has 4 snapshots and may have 5"},
		"a limit of what replicas can have":    {changes(taken(snapshotlimit.MaxDisks - 1)), "it has 249 snapshots and may have 250"},
		"just below it":                        {changes(taken(snapshotlimit.MaxDisks - 2)), ""},
		"its own snapshot is taken already":    {changes(taken(4), ofVolumeMost(5), own("s0")), ""},
		"and leaves no room for the rebuild":   {changes(taken(5), ofVolumeMost(5), own("s0")), "it has 5 snapshots and may have 5"},
		"its own has a name and is not taken":  {changes(taken(4), ofVolumeMost(5), own("s9")), "it has 4 snapshots and may have 5"},
		"no replica is rebuilt":                {changes(taken(4), ofVolumeMost(5), alone), ""},
		"nor is there room for its own":        {changes(taken(5), ofVolumeMost(5), alone), "it has 5 snapshots and may have 5"},
		"it was taken, and nothing is rebuilt": {changes(taken(6), ofVolumeMost(5), alone, own("s0")), ""},
	})
	stopped := ofEngine(func(e *v1beta2.Engine) { e.Status.CurrentState = v1beta2.InstanceStateStopped })
	require.Equal(t, []Kind{TooFewReplicas}, kindsOf(world(taken(5), ofVolumeMost(5), stopped)), "no engine, no list of snapshots")
}

func TestNoSnapshotIsBeingRemoved(t *testing.T) {
	purge := func(is bool) func(*v1beta2.Engine) {
		return func(e *v1beta2.Engine) { e.Status.PurgeStatus = map[string]v1beta2.PurgeStatus{"r": {IsPurging: is}} }
	}
	hold(t, Purging, "vol", map[string]row{
		"one is": {
			changes(ofVolume(func(v *cluster.Volume) { v.Removals = []string{"s-1", "s-2"} })), "snapshot s-1 is being removed"},
		"an engine merges":     {changes(ofEngine(purge(true))), "its snapshots are being merged"},
		"another one merges":   {changes(secondEngine(purge(true))), "its snapshots are being merged"},
		"an engine has merged": {changes(ofEngine(purge(false))), ""},
	})
}

func TestNoBackupIsBeingTaken(t *testing.T) {
	hold(t, BackingUp, "vol", map[string]row{
		"none is": {nil, ""},
		"one is":  {changes(ofVolume(func(v *cluster.Volume) { v.Backups = []string{"b-1", "b-2"} })), "backup b-1 is being taken"},
	})
}

// A standby volume is restored for ever, without a frontend: none of that ends before the node is cordoned and it is detached.
func TestAStandbyVolumeBlocksOnlyOnceItsNodeIsCordoned(t *testing.T) {
	cordoned := ofNode("a", func(n *v1beta2.Node) { n.Spec.UpgradeRequested = true })
	hold(t, Standby, "vol", map[string]row{
		"before":                          {changes(standbyVolume), ""},
		"then":                            {changes(standbyVolume, cordoned), "attach-controller detaches it"},
		"one that is no standby volume":   {changes(cordoned), ""},
		"of another node, as yet serving": {changes(standbyVolume, cordoned, attachedTo("b"), of("b")), ""},
	})
	require.Equal(t, []Kind{UnknownNode}, kindsOf(world(standbyVolume, cordoned, ofNode("a", deletedNode))))
	require.Equal(t, []Kind{TooFewReplicas, Restoring, NoFrontend}, kindsOf(world(standbyVolume,
		ofObject(func(v *v1beta2.Volume) { v.Spec.Standby = false }))), "what blocks it once it is activated")
}
