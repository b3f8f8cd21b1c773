package orphan

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Disk is the part of a block disk of a Node that is read.
type Disk struct {
	// Name is the key in Node.spec.disks; Path and UUID are those that the status records, "" while none is.
	Name, Path, UUID string
	// Ready is true while the instance manager has loaded the disk, Failed once the disk could not be loaded.
	Ready, Failed, Evicting bool
	// Foreign is true when the disk had the key's name at its first load in this cluster, and while that is not known.
	Foreign bool
}

// Data identifies the disk of an Orphan of replica data.
type Data struct{ DiskName, DiskUUID, DiskPath string }

// disk finds a disk of the node by its UUID.
func (n *Node) disk(uuid string) *Disk {
	for i := range n.Disks {
		if uuid != "" && n.Disks[i].UUID == uuid {
			return &n.Disks[i]
		}
	}
	return nil
}

// foreign reports whether the replica may have been on its disk before that disk came to this cluster. It also does so for a disk that
// the node does not record, and where the list does not report the disk.
func foreign(n *Node, diskUUID string) bool {
	d := n.disk(diskUUID)
	return d == nil || d.Foreign
}

// evaluateData decides about the data on a disk under the key's name. A runtime that runs is an instance, not data.
func evaluateData(w World) Evaluation {
	i := inventoried(w)
	switch {
	case w.Inventory == nil || w.Manager == nil:
		return undecided(v1beta2.ReasonInventoryUnknown,
			"The replicas on the disks are unknown: no complete list was read since %s was last connected.", w.Key.InstanceManager)
	case w.Node == nil || w.Node.Down || w.Node.Deleting:
		return undecided(v1beta2.ReasonNodeDown, "Node %s is down or being deleted.", w.Manager.Node)
	case i == nil:
		return Evaluation{Decision: Nothing}
	case w.Duplicate != "":
		return undecided(v1beta2.ReasonInventoryUnknown, "%s and %s list the same %s.", w.Key.InstanceManager, w.Duplicate, w.Key.Name)
	case !w.isV2() || i.Type != v1beta2.InstanceTypeReplica || !dataOnly(i.State):
		return undecided(v1beta2.ReasonNotLive, "%s is listed as %s (%s): what runs is not treated as data at rest.", w.Key.Name, i.Type,
			i.State)
	case w.Replica != nil:
		return Evaluation{Decision: Claimed, Reason: v1beta2.ReasonClaimed, Message: fmt.Sprintf("Replica %s exists.", w.Key.Name)}
	}
	d := w.Node.disk(i.DiskUUID)
	if d == nil {
		return undecided(v1beta2.ReasonNoUUID, "The disk of %s (UUID %q) is not recorded in the status of Node %s.", w.Key.Name, i.DiskUUID,
			w.Manager.Node)
	}
	reason, origin := v1beta2.ReasonDataOnly, ""
	if d.Foreign {
		reason, origin = v1beta2.ReasonForeignData,
			" It was there when the disk was loaded into this cluster for the first time, so no policy deletes it."
	}
	return orphaned(reason, "No Replica named %s exists, but its data is on disk %s of node %s.%s Deleting this orphan destroys the data.",
		w.Key.Name, d.Name, w.Manager.Node, origin)
}

func inventoried(w World) *Instance {
	if w.Inventory == nil {
		return nil
	}
	return w.Inventory.Instance
}

// missingData returns the missing Orphan of the data; nil when none is missing, or when the data could not be cleaned up.
func missingData(w World, j Evaluation) *Creation {
	if j.Decision != Orphaned {
		return nil
	}
	d := w.Node.disk(w.Inventory.Instance.DiskUUID)
	data := Data{DiskName: d.Name, DiskUUID: d.UUID, DiskPath: d.Path}
	if reason, _ := cleanable(w.Node, w.Manager.Node, data); reason != "" {
		return nil
	}
	name := v1beta2.OrphanDataName(w.Manager.Node, d.Name, d.Path, d.UUID, w.Key.Name)
	for _, o := range w.Orphans {
		if o.Name == name {
			return nil
		}
	}
	return &Creation{
		Name: name, OrphanType: v1beta2.OrphanTypeReplicaData, DataEngine: v1beta2.DataEngineV2, Node: w.Manager.Node,
		Parameters: map[string]string{
			v1beta2.OrphanParameterDataName: w.Key.Name, v1beta2.OrphanParameterDiskName: d.Name, v1beta2.OrphanParameterDiskUUID: d.UUID,
			v1beta2.OrphanParameterDiskPath: d.Path, v1beta2.OrphanParameterDiskType: v1beta2.DiskTypeBlock,
		},
		Labels: map[string]string{
			v1beta2.LabelComponent:  v1beta2.ComponentOrphan,
			v1beta2.LabelManagedBy:  v1beta2.ManagedByLonghornManager,
			v1beta2.LabelOrphanType: v1beta2.OrphanTypeReplicaData,
			v1beta2.LabelNode:       v1beta2.LabelValue(w.Manager.Node),
			v1beta2.LabelReplica:    v1beta2.LabelValue(w.Key.Name),
		},
	}
}

// cleanable reports why data cannot be destroyed where it is; "" when it can. An Orphan whose data cannot is ended without a call.
func cleanable(n *Node, node string, data Data) (reason, message string) {
	switch {
	case n == nil || n.Down || n.Deleting:
		return v1beta2.ReasonNodeUnavailable, fmt.Sprintf("Node %s does not exist, is being deleted, is down, or has no v2 instance "+
			"manager.", node)
	case n.Evicting:
		return v1beta2.ReasonNodeEvicted, fmt.Sprintf("Node %s is being evicted.", node)
	}
	d := n.disk(data.DiskUUID)
	switch {
	case d == nil || !d.Ready:
		return v1beta2.ReasonDiskInvalid, fmt.Sprintf("Node %s has no ready disk with UUID %s.", node, data.DiskUUID)
	case d.Name != data.DiskName || d.Path != data.DiskPath:
		return v1beta2.ReasonDiskChanged, fmt.Sprintf("The disk with UUID %s is disk %s at %s now.", data.DiskUUID, d.Name, d.Path)
	case d.Evicting:
		return v1beta2.ReasonDiskEvicted, fmt.Sprintf("Disk %s of node %s is being evicted.", d.Name, node)
	}
	return "", ""
}

// comesBack reports whether the only obstacle is a disk that is not ready now, as after each start of its server. An Orphan
// that is deleted waits for the disk, too, unless the disk could not be loaded.
func comesBack(n *Node, o Orphan) bool {
	if n == nil || n.Down || n.Deleting || n.Evicting {
		return false
	}
	d := n.disk(o.Data.DiskUUID)
	return d != nil && d.Name == o.Data.DiskName && d.Path == o.Data.DiskPath && !d.Evicting && !d.Ready && !(o.Deleting && d.Failed)
}

// evaluateDataOrphan composes the status of one Orphan of data.
func evaluateDataOrphan(w World, j Evaluation, o Orphan) OrphanVerdict {
	v := OrphanVerdict{Name: o.Name, OwnerID: o.OwnerID, Conditions: conditions.Owned(o.Conditions, OwnedConditions()...)}
	if ended(o) || o.FencingDelayed {
		return v
	}
	v.OwnerID = o.Node
	reason, why := cleanable(w.Node, o.Node, *o.Data)
	v.Withdrawn, v.Terminated = dataEnd(w, j, o, reason)
	v.Execute = reason == "" && v.Withdrawn == "" && !v.Terminated && Approved(o) && j.Decision == Orphaned &&
		w.Inventory.Instance.DiskUUID == o.Data.DiskUUID
	v.say(dataOrphanedCondition(w, j, o, v))
	v.say(dataState(w, j, o, v))
	v.say(dataCleanable(reason, why))
	v.say(dataWithdrawn(o, v, why))
	v.reportFailure(o)
	v.repeatFailure()
	return v
}

// dataEnd is why an Orphan of data ends: withdrawn for a reason, or terminated. reason is why the data must not be cleaned up; empty where
// it may be.
func dataEnd(w World, j Evaluation, o Orphan, reason string) (withdrawn string, terminated bool) {
	gone := j.Decision == Nothing && o.Absent
	switch {
	case o.Name != v1beta2.OrphanDataName(o.Node, o.Data.DiskName, o.Data.DiskPath, o.Data.DiskUUID, o.InstanceName):
		return v1beta2.ReasonRenamed, false
	case gone && o.Deleting:
		return "", true
	case gone:
		return v1beta2.ReasonInstanceGone, false
	case w.Replica != nil:
		return v1beta2.ReasonClaimed, false
	case reason != "" && !comesBack(w.Node, o):
		return v1beta2.ReasonNotCleanable, false
	}
	return "", false
}

func dataOrphanedCondition(w World, j Evaluation, o Orphan, v OrphanVerdict) *v1beta2.Condition {
	if j.Decision == Orphaned && w.Inventory.Instance.DiskUUID != o.Data.DiskUUID {
		return nil
	}
	return orphanedCondition(j, o, v)
}

// dataState is the state of the replica while it is listed on the disk, and terminated once its absence is proven.
func dataState(w World, j Evaluation, o Orphan, v OrphanVerdict) *v1beta2.Condition {
	if v.Terminated || v.Withdrawn == v1beta2.ReasonInstanceGone {
		return &v1beta2.Condition{Type: v1beta2.OrphanInstanceState, Status: v1beta2.ConditionFalse,
			Reason:  v1beta2.InstanceStateTerminated,
			Message: fmt.Sprintf("The data of %s is not on disk %s of node %s any more.", o.InstanceName, o.Data.DiskName, o.Node)}
	}
	i := inventoried(w)
	switch {
	case j.Decision == Nothing && len(o.Unloaded) > 0:
		return waitsForDisk(o)
	case i == nil || undecidable(j) || i.DiskUUID != o.Data.DiskUUID:
		return nil
	}
	return &v1beta2.Condition{Type: v1beta2.OrphanInstanceState, Status: v1beta2.ConditionTrue, Reason: i.State,
		Message: fmt.Sprintf("%s is listed as %s on disk %s by %s.", o.InstanceName, i.State, o.Data.DiskName, w.Key.InstanceManager) +
			waitsFor(j, o)}
}

func dataCleanable(reason, why string) *v1beta2.Condition {
	if reason == "" {
		return &v1beta2.Condition{Type: v1beta2.OrphanDataCleanable, Status: v1beta2.ConditionTrue}
	}
	return &v1beta2.Condition{Type: v1beta2.OrphanDataCleanable, Status: v1beta2.ConditionFalse, Reason: reason, Message: why}
}

func dataWithdrawn(o Orphan, v OrphanVerdict, why string) *v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.OrphanWithdrawn, Status: v1beta2.ConditionTrue, Reason: v.Withdrawn}
	switch v.Withdrawn {
	case "":
		return nil
	case v1beta2.ReasonInstanceGone:
		c.Message = fmt.Sprintf("The data of %s disappeared from disk %s; nothing is left to destroy.", o.InstanceName, o.Data.DiskName)
	case v1beta2.ReasonClaimed:
		c.Message = fmt.Sprintf("Replica %s exists; its data is not destroyed.", o.InstanceName)
	case v1beta2.ReasonNotCleanable:
		c.Message = why + " The orphan ends and the data stays; if it can be reached again, a new orphan appears."
	case v1beta2.ReasonRenamed:
		c.Message = fmt.Sprintf("The name of this orphan is not the one of the data of %s; if it is orphaned, another orphan reports it.",
			o.InstanceName)
	}
	return &c
}

// repeatFailure reports CleanupFailed also under the condition type that Longhorn uses. Where nothing fails it is False, if it is there:
// one that Longhorn wrote cannot be removed by an apply.
func (v *OrphanVerdict) repeatFailure() {
	failed := conditions.Get(v.Conditions, v1beta2.OrphanCleanupFailed)
	if failed == nil {
		if conditions.Get(v.Conditions, v1beta2.OrphanError) != nil {
			v.say(&v1beta2.Condition{Type: v1beta2.OrphanError, Status: v1beta2.ConditionFalse})
		}
		return
	}
	v.say(&v1beta2.Condition{Type: v1beta2.OrphanError, Status: failed.Status, Reason: failed.Reason, Message: failed.Message})
}
