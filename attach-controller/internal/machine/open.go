package machine

import (
	"fmt"
	"net"
	"strconv"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/mergepatch"
)

// opening starts the instances of a volume.
type opening struct{ *draft }

// open starts the replicas, then the engine, then for v2 the frontend, on the node. It reports whether the volume is usable there.
func (o opening) open(node string) bool {
	if o.nodeDown(node) {
		return o.wait(v1beta2.ReasonNodeDown, "Node "+node+" is down.")
	}
	if o.engine == nil {
		return o.wait(v1beta2.ReasonWaitingForEngine, "The volume's engine is about to be created.")
	}
	at := o.engineNode(node)
	if e := ofEngine(o.engine); !(e.wanted && e.node == at && o.running(e)) && !o.startEngine(at) {
		return false
	}
	return !o.isV2() || o.Volume.Spec.DisableFrontend || o.startFrontend(node)
}

func (o opening) startEngine(node string) bool {
	e := ofEngine(o.engine)
	if e.wanted && e.node != node {
		return o.stopInstances(o.frontend, o.engine) && o.wait(v1beta2.ReasonWaitingForEngine, "The engine leaves "+e.node+".")
	}
	if o.Nodes[node].Upgrading && !e.wanted {
		return o.wait(v1beta2.ReasonNodeUpgrading,
			"The data engine of node "+node+" is being upgraded; no engine starts there until that ends.")
	}
	if !o.statesKnown() {
		return false
	}
	if !e.wanted {
		o.failByLastModes() // the modes may have arrived after the volume was detached
	}
	if o.faulted {
		return o.wait(v1beta2.ReasonFaulted, "The volume is faulted: no engine starts before it is detached.")
	}
	o.setSize()
	addresses, ready := o.startReplicas()
	if !ready {
		return false
	}
	if !e.wanted {
		o.requestEngine(node, addresses)
	}
	return o.wait(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("Engine %s is about to run on %s; it is %s.%s", o.engine.Name, node,
		o.stateOf(e), NotStarted(o.engine.Status.Conditions)))
}

// statesKnown reports whether the state of every engine and frontend is known: an engine in an unknown state may still write.
func (o opening) statesKnown() bool {
	for _, e := range o.Engines {
		if i := ofEngine(e); o.stateOf(i) == v1beta2.InstanceStateUnknown {
			return o.wait(v1beta2.ReasonInstanceUnknown, fmt.Sprintf("The state of engine %s on %s is not known.", e.Name, i.node))
		}
	}
	for _, f := range o.Frontends {
		if i := ofFrontend(f); o.stateOf(i) == v1beta2.InstanceStateUnknown {
			return o.wait(v1beta2.ReasonInstanceUnknown, fmt.Sprintf("The state of frontend %s on %s is not known.", f.Name, i.node))
		}
	}
	return true
}

// startReplicas starts every replica that can be used, and returns the addresses when all of them run. The others that have the data are
// marked as failed.
func (o opening) startReplicas() (addresses map[string]string, ready bool) {
	usable := o.usableReplicas()
	if len(usable) == 0 {
		return nil, o.wait(v1beta2.ReasonNoUsableReplica, o.noReplicaReason())
	}
	addresses, ready = map[string]string{}, true
	for _, r := range usable {
		another := o.anotherRuns(r, usable)
		if another && o.failLate(r) {
			continue // the engine starts without it
		}
		if o.reportSlow(r, !another) {
			ready = false
			continue
		}
		if i := ofReplica(r); o.stateOf(i) == v1beta2.InstanceStateUnknown {
			return nil, o.wait(v1beta2.ReasonInstanceUnknown, fmt.Sprintf("The state of replica %s on %s is not known.", r.Name, i.node))
		}
		if o.runReplica(r) {
			addresses[r.Name] = address(r)
		} else {
			ready = false
		}
	}
	if ready { // else a usable one may turn out not to start, and one of the others may be back by then
		o.failUnused()
	}
	return addresses, ready
}

// failLate marks a replica whose time to start is over, unless the engine may have opened it; it reports whether the replica has failed.
func (o opening) failLate(r *v1beta2.Replica) bool {
	late := o.checkStartTimeout(r)
	return late && !o.engineMayUse(r.Name) && o.fail(r, tooLate())
}

// usableReplicas returns the healthy replicas that can run.
func (f Facts) usableReplicas() (usable []*v1beta2.Replica) {
	for _, r := range f.Replicas {
		if f.healthy(r) && r.Spec.NodeID != "" && !f.nodeDown(r.Spec.NodeID) && !f.excludedByUpgrade(r) {
			usable = append(usable, r)
		}
	}
	return usable
}

// runReplica starts a replica, and reports whether it runs.
func (o opening) runReplica(r *v1beta2.Replica) bool {
	i := ofReplica(r)
	if !i.wanted {
		o.startReplica(r)
	}
	if i.wanted && o.running(i) && r.Status.Port != 0 {
		return true
	}
	return o.wait(v1beta2.ReasonWaitingForReplicas, fmt.Sprintf("Replica %s on %s is %s and must run.%s", r.Name, i.node, o.stateOf(i),
		NotStarted(r.Status.Conditions)))
}

// failUnused marks the replicas with all data without which the engine starts.
func (o opening) failUnused() {
	for _, r := range o.Replicas {
		switch {
		case o.engineMayUse(r.Name):
		case !o.healthy(r):
			o.leaveBehind(r)
		case r.Spec.NodeID != "" && o.nodeDown(r.Spec.NodeID):
			o.fail(r, "its node "+r.Spec.NodeID+" is down while the volume is attached without it")
		case o.excludedByUpgrade(r):
			o.fail(r, "the data engine of its node "+r.Spec.NodeID+" is being upgraded while the volume is attached without it")
		}
	}
}

// engineMayUse reports whether the engine was requested over this replica, and may have opened it: then the mode that it reports decides.
func (f Facts) engineMayUse(replica string) bool {
	_, mapped := f.engine.Spec.ReplicaAddressMap[replica]
	return mapped && ofEngine(f.engine).wanted
}

func address(r *v1beta2.Replica) string {
	return net.JoinHostPort(r.Status.StorageIP, strconv.Itoa(r.Status.Port))
}

func (f Facts) noReplicaReason() string {
	switch {
	case len(f.Replicas) == 0 && f.everHealthy():
		return "The volume was attached before, and none of its replicas is left: restore it from a backup, or delete it."
	case !f.everHealthy() && !f.anyReplica(func(r *v1beta2.Replica) bool { return r.Spec.NodeID != "" }):
		return "The volume has no replica yet: see the condition Scheduled."
	case f.allFailed():
		return "All replicas have failed."
	}
	for _, r := range f.Replicas {
		if f.healthy(r) && r.Spec.NodeID != "" {
			return fmt.Sprintf("Healthy replica %s is on node %q, which is down: bring that node back.", r.Name, r.Spec.NodeID)
		}
	}
	return "No replica can be used."
}

// requestEngine requests the engine on the node over these replicas.
func (o opening) requestEngine(node string, addresses map[string]string) {
	e := o.engine
	o.out.Fresh = true // a replica that has the data and is left out must be marked
	o.markFirstHealthy(addresses)
	for key, value := range o.engineSpec(node) {
		o.patch(StageRun, e, key, value)
	}
	if !same(e.Spec.ReplicaAddressMap, addresses) {
		o.patch(StageRun, e, "replicaAddressMap", mergepatch.OfMap(e.Spec.ReplicaAddressMap, addresses))
	}
	o.patch(StageRun, e, "salvageRequested", o.salvaging())
	o.label(StageRun, e, v1beta2.LabelNode, node)
}

// markFirstHealthy marks the replicas of the first attachment as healthy before their engine starts: from its first write on, a replica
// that is placed later must be rebuilt, however early the engine is lost.
func (o opening) markFirstHealthy(addresses map[string]string) {
	if o.everHealthy() {
		return
	}
	for _, r := range o.Replicas {
		if _, joins := addresses[r.Name]; joins {
			o.patch(StageMark, r, "healthyAt", stamp(o.Now))
			o.patch(StageMark, r, "lastHealthyAt", stamp(o.Now))
		}
	}
}

// engineSpec returns the spec of an engine that starts on the node, without its replicas.
func (f Facts) engineSpec(node string) map[string]any {
	s := f.Volume.Spec
	return map[string]any{
		"nodeID": node, "desireState": v1beta2.InstanceStateRunning, "disableFrontend": s.DisableFrontend,
		"frontend": s.Frontend, "image": f.image(), "snapshotMaxCount": s.SnapshotMaxCount, "snapshotMaxSize": size(s.SnapshotMaxSize),
		"revisionCounterDisabled": s.RevisionCounterDisabled, "unmapMarkSnapChainRemovedEnabled": f.removesSnapshotsOnTrim(),
	}
}

// removesSnapshotsOnTrim reports whether trimming the filesystem removes the snapshots that contain the trimmed data.
func (f Facts) removesSnapshotsOnTrim() bool {
	switch f.Volume.Spec.UnmapMarkSnapChainRemoved {
	case "enabled":
		return true
	case "disabled":
		return false
	}
	return f.Settings.RemoveSnapshotsOnTrim
}

func (f Facts) image() string {
	if f.Volume.Spec.Image != "" {
		return f.Volume.Spec.Image
	}
	return f.Settings.DefaultEngineImage
}

// salvaging reports whether the replicas all failed once: the engine is then started with salvageRequested, so that it does not insist on
// their revision counters.
func (f Facts) salvaging() bool {
	return f.anyReplica(func(r *v1beta2.Replica) bool { return r.Spec.SalvageRequested })
}

// startFrontend connects the initiator on the node to the running engine.
func (o opening) startFrontend(node string) bool {
	if o.frontend == nil {
		return o.wait(v1beta2.ReasonWaitingForFrontend, "The volume's frontend is about to be created.")
	}
	if o.switchesToSecond() {
		return o.connectFrontend(o.frontend, o.second, node)
	}
	return o.connectFrontend(o.frontend, o.engine, node)
}
