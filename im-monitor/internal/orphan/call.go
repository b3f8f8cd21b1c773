package orphan

import (
	"fmt"
	"regexp"
	"slices"

	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/shared/api/v1beta2"
)

// CallWorld is what DecideCall reads right before the instance of an approved orphan is deleted, beside the World that
// Evaluate found orphaned again. Everything in it was read after the approval, and the custom resources last.
type CallWorld struct {
	World  World
	Orphan Orphan
	// Engines are the Engine objects of the instance's volume.
	Engines []mapping.Engine
	// Places are the instance managers on which an engine that maps the instance may run.
	Places []mapping.Place
	// Copies is what is known about other copies of the volume's data.
	Copies Copies
}

// Copies is what is known about other copies of the data.
type Copies struct {
	// Volume is the name of the volume; "" when the replica's name does not show it.
	Volume string
	// Exists is true when the Volume, or a PersistentVolume with that handle, exists.
	Exists bool
	// Healthy is the number of other healthy replicas.
	Healthy int
}

// Call is what DecideCall allows.
type Call struct {
	// Allowed is true when the deletion may be sent.
	Allowed bool
	// Cleanup is the cleanupRequired of the call: it destroys the data of a v2 replica.
	Cleanup bool
	// Failure reports why the deletion is not allowed; empty when the evaluation itself no longer finds the instance orphaned.
	Failure Failure
}

// DecideCall is the last check before a deletion. The runtime of a replica whose data is claimed is stopped without
// destroying data, after every engine that may use it. Data that is destroyed must be mapped by no running engine and, where a policy
// requested the deletion, not be the last copy. Only a person can record that data on a disk without a Volume is not needed.
func DecideCall(c CallWorld, v Verdict) Call {
	if !executes(v, c.Orphan.Name) {
		return Call{}
	}
	if !isReplica(c.World) {
		return Call{Allowed: true, Cleanup: true}
	}
	if c.World.MayUse != "" {
		return Call{Failure: Failure{v1beta2.ReasonMappedByEngine, fmt.Sprintf("%s, which no object accounts for, may use %s: it ends first, or "+
			"the replica would lack its last writes", c.World.MayUse, c.World.Key.Name)}}
	}
	claimed := DataClaimed(c.World)
	if f := mapped(c, !claimed); f.Reason != "" {
		return Call{Failure: f}
	}
	if claimed {
		return Call{Allowed: true}
	}
	if c.Orphan.ByPolicy() && !c.Orphan.GivenUp && c.Orphan.Data != nil && !c.Copies.Exists {
		return Call{Failure: Failure{v1beta2.ReasonLastCopy,
			fmt.Sprintf("Neither a Volume nor a PersistentVolume of volume %q exists, so nothing shows that its data is not needed: the "+
				"objects may be missing, as after restoring an earlier state of etcd. Restore them; or, if the data is not needed, release the "+
				"orphan with %s", c.Copies.Volume, c.Orphan.ByHandCommand)}}
	}
	if c.Orphan.ByPolicy() && lastCopy(c.Copies) {
		return Call{Failure: Failure{v1beta2.ReasonLastCopy, fmt.Sprintf(
			"No other healthy replica of volume %q is known. Wait for a rebuild; or, if the data is not needed, release the orphan with %s",
			c.Copies.Volume, c.Orphan.ByHandCommand)}}
	}
	return Call{Allowed: true, Cleanup: true}
}

func executes(v Verdict, name string) bool {
	return slices.ContainsFunc(v.Orphans, func(o OrphanVerdict) bool { return o.Name == name && o.Execute })
}

func isReplica(w World) bool { return w.Inventory.Instance.Type == v1beta2.InstanceTypeReplica }

// DataClaimed reports whether a Replica owns the data: it has the instance's name and does not positively name both
// another node and another disk.
func DataClaimed(w World) bool {
	if w.Replica == nil {
		return false
	}
	i := w.Inventory.Instance
	elsewhere := w.Replica.NodeID != "" && w.Replica.NodeID != w.Manager.Node &&
		w.Replica.DiskID != "" && i.DiskUUID != "" && w.Replica.DiskID != i.DiskUUID
	return !elsewhere
}

// mapped finds a running engine that uses the replica and, where data would be destroyed, an instance manager that cannot be polled.
// It applies to v2 only: the deletion of a v1 process keeps its data.
func mapped(c CallWorld, destroys bool) Failure {
	if !c.World.isV2() {
		return Failure{}
	}
	name := c.World.Key.Name
	for _, use := range mapping.Uses(name, c.Engines, c.Places) {
		if !sameElsewhere(c.World, use.Address) {
			return Failure{v1beta2.ReasonMappedByEngine, use.Sentence(name)}
		}
	}
	if unasked := mapping.Unasked(name, c.Places); destroys && unasked != "" {
		return Failure{v1beta2.ReasonUnreachable, unasked}
	}
	return Failure{}
}

// sameElsewhere reports whether a mapped address is that of the Replica's own runtime on another instance manager, so that
// the engine does not use this instance.
func sameElsewhere(w World, address string) bool {
	r := w.Replica
	return r != nil && address != "" && address == r.Address && r.InstanceManager != "" && r.InstanceManager != w.Key.InstanceManager
}

// lastCopy refuses the deletion where the volume still exists, or where the volume is not known.
func lastCopy(c Copies) bool {
	return c.Healthy == 0 && (c.Exists || c.Volume == "")
}

var replicaName = regexp.MustCompile(`^(.+)-r-[0-9a-z]+$`)

// VolumeOf returns the volume of a replica by its name, `<volume>-r-<id>`; "" when the name has another form.
func VolumeOf(replica string) string {
	if m := replicaName.FindStringSubmatch(replica); m != nil {
		return m[1]
	}
	return ""
}
