package preflight

import (
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/snapshotlimit"
	"drover.dev/drover/shared/upgrade/cluster"
)

// Work on a volume that is under way or is due, and that blocks an upgrade.

func rebuilding(_ World, v cluster.Volume) string {
	for _, e := range v.Engines {
		for _, replica := range slices.Sorted(maps.Keys(e.Status.ReplicaModeMap)) {
			if e.Status.ReplicaModeMap[replica] == v1beta2.ReplicaModeWO {
				return fmt.Sprintf("replica %s is being rebuilt; wait until that is done.", replica)
			}
		}
		if v1beta2.IsRebuilding(e.Status.RebuildStatus) {
			return "a replica is being rebuilt; wait until that is done."
		}
	}
	return ""
}

func migrating(_ World, v cluster.Volume) string {
	if v.Object.Spec.MigrationNodeID == "" && v.Object.Status.CurrentMigrationNodeID == "" {
		return ""
	}
	return "it moves live to another node; wait until that is done."
}

func expanding(_ World, v cluster.Volume) string {
	active := v.Active()
	running := active != nil && (active.Status.IsExpanding || active.Spec.VolumeSize != 0 &&
		active.Spec.VolumeSize < v1beta2.SizeOf(v.Object))
	if !running && !v.Object.Status.ExpansionRequired {
		return ""
	}
	return "it is being expanded; wait until that is done."
}

// snapshotLimit: the upgrade takes a snapshot of the volume, and each rebuild of a replica takes another one. Either limit refuses them,
// while the engine has not got a new one of its volume yet.
func snapshotLimit(w World, v cluster.Volume) string {
	active := v.Active()
	if active == nil {
		return ""
	}
	taken := 0
	if _, there := active.Status.Snapshots[w.Own[v.Object.Name]]; !there {
		taken++
	}
	if len(v.ReplicasOn(w.Node)) > 0 {
		taken++
	}
	list := active.Status.Snapshots
	for _, limits := range []snapshotlimit.Limits{
		snapshotlimit.OfVolume(v.Object, snapshotlimit.MaxDisks), snapshotlimit.OfEngine(active)} {
		if taken > 0 && snapshotlimit.Reached(v.Object.Name, list, limits.Less(taken-1)) != "" {
			return fmt.Sprintf("it has %d snapshots and may have %d; the upgrade takes one, and the rebuild of its replica another. "+
				"Delete some, or raise snapshotMaxCount.", snapshotlimit.Count(list), limits.Count)
		}
	}
	return ""
}

func purging(_ World, v cluster.Volume) string {
	if len(v.Removals) > 0 {
		return fmt.Sprintf("snapshot %s is being removed; wait until that is done.", v.Removals[0])
	}
	for _, e := range v.Engines {
		if v1beta2.IsPurging(e.Status.PurgeStatus) {
			return "its snapshots are being merged; wait until that is done."
		}
	}
	return ""
}

func backingUp(_ World, v cluster.Volume) string {
	if len(v.Backups) == 0 {
		return ""
	}
	return fmt.Sprintf("backup %s is being taken; wait until that is done.", v.Backups[0])
}

// standby: such a volume has no frontend that could move, and its restore does not end. attach-controller detaches it once the node is
// cordoned.
func standby(w World, v cluster.Volume) string {
	node := w.Cluster.Nodes[w.Node]
	if !isStandby(v) || !node.Exists() || !node.Object.Spec.UpgradeRequested {
		return ""
	}
	return "it is a standby volume: attach-controller detaches it for as long as the node is upgraded, once it has the backup that is " +
		"being copied; delete its other tickets if it stays attached."
}

func isStandby(v cluster.Volume) bool { return v.Object.Spec.Standby }

func restoring(_ World, v cluster.Volume) string {
	if v.Object.Status.RestoreRequired {
		return "it gets its data from a backup; wait until that is done."
	}
	for _, e := range v.Engines {
		if v1beta2.IsRestoring(e.Status.RestoreStatus) {
			return "it gets its data from a backup; wait until that is done."
		}
	}
	return ""
}

func cloning(_ World, v cluster.Volume) string {
	if v.Object.Status.CloneStatus.State == v1beta2.CloneInitiated {
		return "it gets its data from another volume; wait until that is done."
	}
	for _, e := range v.Engines {
		if v1beta2.IsCloning(e.Status.CloneStatus) {
			return "it takes part in a clone; wait until that is done."
		}
	}
	if len(v.Clones) > 0 {
		return fmt.Sprintf("volume %s gets its data from it; wait until that is done.", v.Clones[0])
	}
	return ""
}
