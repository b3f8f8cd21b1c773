package machine

import (
	"fmt"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// healthy reports whether a replica has all data as far as is known. Before the first attachment ever, every replica is healthy.
func (f Facts) healthy(r *v1beta2.Replica) bool {
	return r.Spec.FailedAt == "" && !f.failed[r.Name] && r.DeletionTimestamp == nil &&
		(r.Spec.HealthyAt != "" || f.rebuilt[r.Name] || !f.everHealthy())
}

// everHealthy reports whether the volume was attached once: a replica without HealthyAt is then one that must be rebuilt. The volume
// records it, too, since its replicas may be gone.
func (f Facts) everHealthy() bool {
	if v1beta2.EverAttached(f.Volume) {
		return true
	}
	for _, r := range f.Replicas {
		if r.Spec.HealthyAt != "" || r.Spec.LastHealthyAt != "" {
			return true
		}
	}
	return false
}

// otherHealthyReachable reports whether another healthy replica is on a node that is not down.
func (f Facts) otherHealthyReachable(except string) bool {
	for _, r := range f.Replicas {
		if r.Name != except && f.healthy(r) && !f.nodeDown(r.Spec.NodeID) {
			return true
		}
	}
	return false
}

func (f Facts) otherHealthy(except string) bool {
	for _, r := range f.Replicas {
		if r.Name != except && f.healthy(r) {
			return true
		}
	}
	return false
}

// fail marks a replica, never the last healthy one. [UPG-1]
func (p *pass) fail(r *v1beta2.Replica, why string) bool {
	if r.Spec.FailedAt != "" || p.failed[r.Name] {
		return true
	}
	if p.healthy(r) && !p.otherHealthy(r.Name) {
		return false
	}
	p.failed = p.failed.with(r.Name)
	p.patch(StageFail, r, "failedAt", stamp(p.Now))
	p.patch(StageFail, r, "lastFailedAt", stamp(p.Now))
	p.report(r, Event{Reason: EventReplicaFailed, Warning: true, Note: fmt.Sprintf("Replica %s has failed: %s.", r.Name, why)})
	return true
}

// engineRuns reports whether the volume's engine runs and is observed.
func (f Facts) engineRuns() bool {
	i := ofEngine(f.engine)
	return i.exists && i.wanted && f.running(i) && !f.nodeDown(i.node)
}

func (f Facts) allFailed() bool {
	for _, r := range f.Replicas {
		if f.healthy(r) {
			return false
		}
	}
	return len(f.Replicas) > 0
}

// findFaults finds whether the volume cannot continue: it detaches, and the remaining replicas decide the next step.
func (p *pass) findFaults() {
	if p.faulted || p.current == "" && p.state != v1beta2.VolumeStateAttaching {
		if !p.faulted && p.state == v1beta2.VolumeStateDetached && p.allFailed() {
			p.out.Fresh = true // the cache may not show yet how they were marked
			p.fault("All replicas have failed.")
		}
		return
	}
	switch e, f := ofEngine(p.engine), ofFrontend(p.frontend); {
	case p.allFailed() && !p.servesData():
		p.out.Fresh = true
		p.fault("All replicas have failed.")
	case p.engineRuns() && p.allDropped():
		p.fault(fmt.Sprintf("Engine %s on %s has dropped all its replicas.", p.engine.Name, e.node))
	case p.relocatedTargetFailed() || p.switchesToSecond() && e.state == v1beta2.InstanceStateError: // another engine takes over under the frontend
	case e.wanted && e.state == v1beta2.InstanceStateError:
		p.refused()
		p.fault(fmt.Sprintf("Engine %s on %s has failed.%s", p.engine.Name, e.node, NotStarted(p.engine.Status.Conditions)))
	case f.wanted && f.state == v1beta2.InstanceStateError:
		p.fault(fmt.Sprintf("Frontend %s on %s has failed.%s", p.frontend.Name, f.node, NotStarted(p.frontend.Status.Conditions)))
	}
}

// servesData reports whether the running engine has a copy that did not fail: a replica that is being deleted stays in the engine as long as
// it is the last.
func (f Facts) servesData() bool {
	for _, r := range f.Replicas {
		if f.engineRuns() && f.mode(r.Name) == v1beta2.ReplicaModeRW && r.Spec.FailedAt == "" && !f.failed[r.Name] {
			return true
		}
	}
	return f.servesFromUnnamed()
}

// servesFromUnnamed reports whether the running engine reads and writes a replica without an object: the objects may be restored from an earlier
// time, when the volume had other replicas. The engine serves its users as long as it is not stopped.
func (f Facts) servesFromUnnamed() bool {
	if !f.engineRuns() {
		return false
	}
	for name, mode := range f.engine.Status.ReplicaModeMap {
		named := slices.ContainsFunc(f.Replicas, func(r *v1beta2.Replica) bool { return r.Name == name })
		if !named && mode == v1beta2.ReplicaModeRW {
			return true
		}
	}
	return false
}

// allDropped reports whether the running engine has no replica left to serve from.
func (f Facts) allDropped() bool {
	if f.servesFromUnnamed() {
		return false
	}
	for name := range f.engine.Spec.ReplicaAddressMap {
		if f.mode(name) != v1beta2.ReplicaModeERR {
			return false
		}
	}
	return len(f.engine.Spec.ReplicaAddressMap) > 0
}

func (p *pass) fault(why string) {
	p.faulted, p.because = true, why
	p.say(Event{Reason: EventFaulted, Warning: true, Note: why + " The volume is detached, and attached again from what is left."})
}

// failReplicas marks replicas that are known to lack data: dropped by the running engine, or unable to start.
func (p *pass) failReplicas() {
	if p.Volume.Spec.NodeID == "" {
		return
	}
	up := p.engineRuns()
	e := ofEngine(p.engine)
	if started := e.exists && e.uuid != ""; started && !up && e.state != v1beta2.InstanceStateError && !p.Rules.off(RuleModesOfThisRun) {
		return // the engine is not observed: its reports are outdated
	}
	if up {
		p.takeBack()
	}
	if up || e.state == v1beta2.InstanceStateError { // the last report of a failed engine precedes its replicas' states
		p.failDropped()
	}
	if up || p.state == v1beta2.VolumeStateDetaching || p.Rules.off(RuleAttachError) {
		return
	}
	for _, r := range p.Replicas {
		if r.Spec.DesireState != v1beta2.InstanceStateRunning || r.Status.CurrentState != v1beta2.InstanceStateError {
			continue
		}
		if !p.fail(r, "it could not start") && e.state != v1beta2.InstanceStateError {
			p.fault("The last healthy replica " + r.Name + " could not start.")
		}
	}
}

func (p *pass) failDropped() {
	for _, r := range p.Replicas {
		if p.mode(r.Name) == v1beta2.ReplicaModeERR {
			p.fail(r, "its engine dropped it")
		}
	}
}

// mode returns the mode that the running engine reports of a replica in its spec; empty if none.
func (f Facts) mode(replica string) string {
	if f.engine == nil {
		return ""
	}
	if _, mapped := f.engine.Spec.ReplicaAddressMap[replica]; !mapped {
		return ""
	}
	return f.engine.Status.ReplicaModeMap[replica]
}
