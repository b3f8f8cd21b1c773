package machine

import (
	"fmt"
	"net"
	"strconv"

	"drover.dev/drover/shared/api/v1beta2"
)

// open starts the replicas, then the engine, then for v2 the frontend, on the node. It reports whether the volume is usable there.
func (p *pass) open(node string) bool {
	if p.nodeDown(node) {
		return p.wait(v1beta2.ReasonNodeDown, "Node "+node+" is down.")
	}
	if p.engine == nil {
		return p.wait(v1beta2.ReasonWaitingForEngine, "The volume's engine is about to be created.")
	}
	at := p.engineNode(node)
	if e := ofEngine(p.engine); !(e.wanted && e.node == at && p.running(e)) && !p.startEngine(at) {
		return false
	}
	return !p.isV2() || p.Volume.Spec.DisableFrontend || p.startFrontend(node)
}

func (p *pass) startEngine(node string) bool {
	e := ofEngine(p.engine)
	if e.wanted && e.node != node {
		return p.stopSide(p.frontend, p.engine) && p.wait(v1beta2.ReasonWaitingForEngine, "The engine leaves "+e.node+".")
	}
	if p.Nodes[node].Upgrading && !e.wanted {
		return p.wait(v1beta2.ReasonNodeUpgrading,
			"The data engine of node "+node+" is being upgraded; no engine starts there until that ends.")
	}
	if !p.nothingUnknown() {
		return false
	}
	if !e.wanted && !p.Rules.off(RuleModesAtClose) {
		p.failByLastModes() // the modes may have arrived after the volume was detached
	}
	p.sizeGiven()
	addresses, ready := p.startReplicas()
	if !ready || p.faulted {
		return false
	}
	if !e.wanted {
		p.orderEngine(node, addresses)
	}
	return p.wait(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("Engine %s is about to run on %s; it is %s.%s", p.engine.Name, node, p.stateOf(e),
		NotStarted(p.engine.Status.Conditions)))
}

// nothingUnknown reports whether the state of every engine and frontend is known: an engine in an unknown state may still write.
func (p *pass) nothingUnknown() bool {
	for _, e := range p.Engines {
		if i := ofEngine(e); p.stateOf(i) == v1beta2.InstanceStateUnknown {
			return p.wait(v1beta2.ReasonInstanceUnknown, fmt.Sprintf("The state of engine %s on %s is not known.", e.Name, i.node))
		}
	}
	for _, f := range p.Frontends {
		if i := ofFrontend(f); p.stateOf(i) == v1beta2.InstanceStateUnknown {
			return p.wait(v1beta2.ReasonInstanceUnknown, fmt.Sprintf("The state of frontend %s on %s is not known.", f.Name, i.node))
		}
	}
	return true
}

// startReplicas starts every healthy replica that can run, marks those on down nodes as failed, and returns the addresses when all of them
// run.
func (p *pass) startReplicas() (addresses map[string]string, ready bool) {
	var usable []*v1beta2.Replica
	for _, r := range p.Replicas {
		if p.healthy(r) && r.Spec.NodeID != "" && !p.nodeDown(r.Spec.NodeID) && !p.excludedByUpgrade(r) {
			usable = append(usable, r)
		}
	}
	if len(usable) == 0 {
		return nil, p.wait(v1beta2.ReasonNoUsableReplica, p.noReplicaReason())
	}
	ready = true
	addresses = map[string]string{}
	for _, r := range usable {
		i := ofReplica(r)
		another := p.anotherRuns(r, usable)
		if another && p.overdue(r) && !p.engineMayUse(r.Name) && p.fail(r, tooLate()) {
			continue
		}
		if p.slow(r, !another) {
			ready = false
			continue
		}
		if p.stateOf(i) == v1beta2.InstanceStateUnknown {
			return nil, p.wait(v1beta2.ReasonInstanceUnknown, fmt.Sprintf("The state of replica %s on %s is not known.", r.Name, i.node))
		}
		if !i.wanted {
			p.start(r)
		}
		if !i.wanted || !p.running(i) || r.Status.Port == 0 {
			ready = p.wait(v1beta2.ReasonWaitingForReplicas, fmt.Sprintf("Replica %s on %s is %s and must run.%s", r.Name, i.node, p.stateOf(i),
				NotStarted(r.Status.Conditions)))
			continue
		}
		addresses[r.Name] = address(r)
	}
	for _, r := range p.Replicas {
		if p.healthy(r) && r.Spec.NodeID != "" && p.nodeDown(r.Spec.NodeID) && !p.engineMayUse(r.Name) {
			p.fail(r, "its node "+r.Spec.NodeID+" is down while the volume is attached without it")
		}
		if p.healthy(r) && p.excludedByUpgrade(r) && !p.engineMayUse(r.Name) {
			p.fail(r, "the data engine of its node "+r.Spec.NodeID+" is being upgraded while the volume is attached without it")
		}
	}
	return addresses, ready
}

// start starts a replica, and records for which engine.
func (p *pass) start(r *v1beta2.Replica) {
	p.patch(StageStop, r, "desireState", v1beta2.InstanceStateRunning)
	if r.Spec.UnmapMarkDiskChainRemovedEnabled != p.removesSnapshotsOnTrim() {
		p.patch(StageStop, r, "unmapMarkDiskChainRemovedEnabled", p.removesSnapshotsOnTrim())
	}
	p.assign(r)
}

func (p *pass) assign(r *v1beta2.Replica) {
	if r.Spec.EngineName != p.engine.Name {
		p.patch(StageStop, r, "engineName", p.engine.Name)
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
	case len(f.Replicas) == 0:
		return "The volume has no replica yet: see the condition Scheduled."
	case f.allFailed():
		return "All replicas have failed."
	}
	for _, r := range f.Replicas {
		if f.healthy(r) {
			return fmt.Sprintf("Healthy replica %s is on node %q, which is down: bring that node back.", r.Name, r.Spec.NodeID)
		}
	}
	return "No replica can be used."
}

// orderEngine requests the engine on the node over these replicas.
func (p *pass) orderEngine(node string, addresses map[string]string) {
	e := p.engine
	p.out.Fresh = true // a replica that has the data and is left out must be marked
	p.begin(addresses)
	for key, value := range p.engineSpec(node) {
		p.patch(StageStop, e, key, value)
	}
	if !same(e.Spec.ReplicaAddressMap, addresses) {
		p.patch(StageStop, e, "replicaAddressMap", exactly(e.Spec.ReplicaAddressMap, addresses))
	}
	p.patch(StageStop, e, "salvageRequested", p.salvaging())
	p.label(StageStop, e, v1beta2.LabelNode, node)
}

// begin marks the replicas of the first attachment as healthy before their engine starts: from its first write on, a replica that is
// placed later must be rebuilt, however early the engine is lost.
func (p *pass) begin(addresses map[string]string) {
	if p.everHealthy() {
		return
	}
	for _, r := range p.Replicas {
		if _, joins := addresses[r.Name]; joins {
			p.patch(StageFail, r, "healthyAt", stamp(p.Now))
			p.patch(StageFail, r, "lastHealthyAt", stamp(p.Now))
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
	for _, r := range f.Replicas {
		if r.Spec.SalvageRequested {
			return true
		}
	}
	return false
}

// startFrontend connects the initiator on the node to the running engine.
func (p *pass) startFrontend(node string) bool {
	if p.frontend == nil {
		return p.wait(v1beta2.ReasonWaitingForFrontend, "The volume's frontend is about to be created.")
	}
	if p.switchesToSecond() {
		return p.orderFrontend(p.frontend, p.second, node)
	}
	return p.orderFrontend(p.frontend, p.engine, node)
}

func (p *pass) orderFrontend(f *v1beta2.EngineFrontend, e *v1beta2.Engine, node string) bool {
	i := ofFrontend(f)
	if switchPending(f) {
		return p.held(v1beta2.ReasonWaitingForFrontend, "All I/O is suspended until its frontend leads to its target.")
	}
	if !i.wanted || i.node != node || f.Spec.TargetIP != e.Status.StorageIP || f.Spec.TargetPort != e.Status.Port ||
		f.Spec.EngineName != e.Name {
		for key, value := range map[string]any{
			"nodeID": node, "desireState": v1beta2.InstanceStateRunning, "engineName": e.Name, "targetIP": e.Status.StorageIP,
			"targetPort": e.Status.Port, "disableFrontend": p.Volume.Spec.DisableFrontend, "frontend": p.Volume.Spec.Frontend, "image": p.image(),
		} {
			p.patch(StageStop, f, key, value)
		}
		if f.Spec.SuspendRequestedAt != "" {
			p.patch(StageStop, f, "suspendRequestedAt", p.suspendRequest(i))
		}
		p.label(StageStop, f, v1beta2.LabelNode, node)
	}
	if i.node == node && i.wanted && p.running(i) {
		return true
	}
	return p.wait(v1beta2.ReasonWaitingForFrontend, fmt.Sprintf("Frontend %s is about to run on %s; it is %s.%s", f.Name, node, p.stateOf(i),
		NotStarted(f.Status.Conditions)))
}
