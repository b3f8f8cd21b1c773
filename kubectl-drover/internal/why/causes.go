package why

import (
	"cmp"
	"fmt"
	"slices"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// explanation finds causes, each object's once: what was explained above is not explained again below.
type explanation struct {
	world  *world.World
	volume *v1beta2.Volume
	seen   map[finding.Ref]bool
}

// causes returns the chains, from the tickets and the volume down. What is behind an instance stands below the volume's condition, since
// the volume waits for it.
func (e *explanation) causes() []Cause {
	attached, others := e.ofVolume()
	behind := e.instances()
	out := e.tickets()
	switch {
	case len(attached) > 0:
		last := len(attached) - 1
		attached[last].Causes = append(e.wantedNode(), behind...)
		out = append(out, attached...)
	default:
		out = append(out, behind...)
	}
	for i := range others {
		if others[i].Condition == v1beta2.VolumeScheduled {
			others[i].Causes = e.places()
		}
	}
	return append(append(out, others...), e.snapshots()...)
}

// ofVolume returns what the volume's conditions say about being attached, and the rest.
func (e *explanation) ofVolume() (attached, others []Cause) {
	for _, f := range finding.Volume(e.world, e.volume) {
		if f.Condition == v1beta2.VolumeAttached || f.Condition == v1beta2.VolumeFaulted || f.Reason == finding.ReasonDegraded {
			attached = append(attached, Cause{Finding: f})
			continue
		}
		others = append(others, Cause{Finding: f})
	}
	return attached, others
}

// tickets returns what stands against the tickets that are not served. The whole VolumeAttachment is left out where a ticket says it.
func (e *explanation) tickets() []Cause {
	var out []Cause
	for i := range e.world.Attachments.Items {
		a := &e.world.Attachments.Items[i]
		for _, ticket := range Tickets(e.world) {
			for _, f := range finding.Ticket(e.world, a, ticket.ID) {
				out = append(out, Cause{Finding: f, Causes: e.node(ticket.Node)})
			}
		}
		if len(out) == 0 {
			for _, f := range finding.Attachment(e.world, a) {
				out = append(out, Cause{Finding: f})
			}
		}
	}
	return out
}

// wantedNode returns what is known against the node on which the volume must be attached.
func (e *explanation) wantedNode() []Cause {
	if e.volume.Spec.NodeID == "" {
		return nil
	}
	return e.node(e.volume.Spec.NodeID)
}

// instance is what the three kinds of instances have in common.
type instance struct {
	ref                                 finding.Ref
	node, engine, wanted, state, server string
	findings                            []finding.Finding
	disk                                string
}

// instances returns, frontends first, those that are not as wanted, with what is behind each.
func (e *explanation) instances() []Cause {
	var out []Cause
	for _, one := range e.all() {
		if waits, late := one.late(e.world); late {
			one.findings = append(one.findings, waits)
		}
		causes := make([]Cause, 0, len(one.findings))
		for _, f := range one.findings {
			causes = append(causes, Cause{Finding: f})
		}
		if len(causes) == 0 {
			continue
		}
		last := len(causes) - 1
		causes[last].Causes = append(e.events(one.ref), e.behind(one)...)
		out = append(out, causes...)
	}
	return append(out, e.rebuilds()...)
}

func (e *explanation) all() []instance {
	w, engine := e.world, e.volume.Spec.DataEngine
	var out []instance
	for i := range w.Frontends.Items {
		f := &w.Frontends.Items[i]
		out = append(out, instance{ref: finding.Ref{Kind: "EngineFrontend", Name: f.Name}, node: f.Spec.NodeID, engine: engine,
			wanted: f.Spec.DesireState, state: f.Status.CurrentState, server: f.Status.InstanceManagerName,
			findings: finding.Frontend(w, f)})
	}
	for i := range w.Engines.Items {
		f := &w.Engines.Items[i]
		out = append(out, instance{ref: finding.Ref{Kind: "Engine", Name: f.Name}, node: f.Spec.NodeID, engine: engine,
			wanted: f.Spec.DesireState, state: f.Status.CurrentState, server: f.Status.InstanceManagerName, findings: finding.Engine(w, f)})
	}
	for i := range w.Replicas.Items {
		r := &w.Replicas.Items[i]
		out = append(out, instance{ref: finding.Ref{Kind: "Replica", Name: r.Name}, node: r.Spec.NodeID, engine: engine,
			wanted: r.Spec.DesireState, state: r.Status.CurrentState, server: r.Status.InstanceManagerName, findings: finding.Replica(w, r),
			disk: r.Spec.DiskID})
	}
	return out
}

// late is an instance that is not in the state that is wanted, where no condition says so.
func (i *instance) late(w *world.World) (finding.Finding, bool) {
	as := i.wanted == i.state || i.wanted == "" && (i.state == "" || i.state == v1beta2.InstanceStateStopped) ||
		i.wanted == v1beta2.InstanceStateStopped && i.state == ""
	// A frontend that is suspended runs.
	as = as || i.wanted == v1beta2.InstanceStateRunning && i.state == v1beta2.InstanceStateSuspended
	if as || slices.ContainsFunc(i.findings, func(f finding.Finding) bool { return f.Severity >= finding.Continues }) {
		return finding.Finding{}, false
	}
	message := fmt.Sprintf("Wanted %s on node %s, and %s.", cmp.Or(i.wanted, v1beta2.InstanceStateStopped), i.node,
		cmp.Or(i.state, "not started yet"))
	out := finding.Finding{Object: i.ref, Reason: finding.ReasonState, Message: message, Severity: finding.Continues,
		Guide: "docs/attaching.md"}
	if i.state == v1beta2.InstanceStateError || i.state == v1beta2.InstanceStateUnknown {
		out.Severity = finding.Warning
		out.Command = finding.Expand(finding.Describe, i.ref, finding.Values{World: w})
	}
	return out, true
}

// behind returns what is known against the instance manager, disk and node of an instance.
func (e *explanation) behind(i instance) []Cause {
	node := e.world.Node(i.node)
	if node != nil && v1beta2.IsNodeDown(node) {
		return e.node(i.node) // it explains the instance manager and the disk, too
	}
	var out []Cause
	managers := e.world.InstanceManagersOf(i.node, i.engine)
	if im := e.world.InstanceManager(i.server); im != nil {
		managers = []*v1beta2.InstanceManager{im}
	}
	for _, im := range managers {
		out = append(out, e.once(finding.InstanceManager(e.world, im))...)
	}
	if len(managers) == 0 && i.node != "" {
		out = append(out, e.noManager(i)...)
	}
	if node != nil && i.disk != "" {
		for key, status := range node.Status.DiskStatus {
			if status.DiskUUID == i.disk {
				out = append(out, e.once(finding.DiskOf(e.world, node, key))...)
			}
		}
	}
	return append(out, e.node(i.node)...)
}

// noManager is a node on which no instance manager of the data engine exists.
func (e *explanation) noManager(i instance) []Cause {
	none := finding.Ref{Kind: "InstanceManager", Name: i.node} // no instance manager has the name of a node
	if e.seen[none] {
		return nil
	}
	e.seen[none] = true
	return []Cause{{Finding: finding.Finding{Object: finding.Ref{Kind: "Node", Name: i.node}, Reason: "NoInstanceManager",
		Severity: finding.Warning, Guide: "docs/attaching.md",
		Message: fmt.Sprintf("No instance manager of data engine %s exists for node %s.", world.DataEngine(i.engine), i.node),
		Command: e.world.Suggest("kubectl -n {ns} get lhim,lhn -o wide", nil)}}}
}

// node returns what is known against a node, its upgrade included.
func (e *explanation) node(name string) []Cause {
	var out []Cause
	if node := e.world.Node(name); node != nil {
		out = e.once(finding.Node(e.world, node))
	}
	for i := range e.world.NodeUpgrades.Items {
		if up := &e.world.NodeUpgrades.Items[i]; up.Spec.NodeID == name {
			out = append(out, e.once(finding.NodeUpgrade(e.world, up))...)
		}
	}
	return out
}

// places returns what is known against the nodes and disks on which a replica could be.
func (e *explanation) places() []Cause {
	var out []Cause
	for i := range e.world.Nodes.Items {
		node := &e.world.Nodes.Items[i]
		out = append(out, e.node(node.Name)...)
		for _, disk := range finding.DisksOf(node) {
			out = append(out, e.once(finding.DiskOf(e.world, node, disk))...)
		}
	}
	return out
}

// rebuilds returns what engines rebuild, and what failed.
func (e *explanation) rebuilds() []Cause {
	var out []Cause
	for i := range e.world.Engines.Items {
		engine := &e.world.Engines.Items[i]
		ref := finding.Ref{Kind: "Engine", Name: engine.Name}
		for address, status := range engine.Status.RebuildStatus {
			switch {
			case status.IsRebuilding:
				out = append(out, Cause{Finding: finding.Finding{Object: ref, Reason: "Rebuilding", Severity: finding.Continues,
					Message: fmt.Sprintf("The replica at %s is being rebuilt: %d %%.", address, status.Progress)}})
			case status.Error != "" && !status.IsUnanswered():
				out = append(out, Cause{Finding: finding.Finding{Object: ref, Reason: "RebuildFailed", Severity: finding.Warning,
					Message: fmt.Sprintf("The rebuild of the replica at %s failed: %s", address, status.Error), Guide: "docs/attaching.md",
					Command: finding.Expand(finding.Describe, ref, finding.Values{World: e.world})}})
			}
		}
	}
	slices.SortFunc(out, func(a, b Cause) int { return cmp.Compare(a.Message, b.Message) })
	return out
}

// snapshots returns those that wait or failed.
func (e *explanation) snapshots() []Cause {
	var out []Cause
	for i := range e.world.Snapshots.Items {
		out = append(out, e.once(finding.Snapshot(e.world, &e.world.Snapshots.Items[i]))...)
	}
	for i := range e.world.Backups.Items {
		out = append(out, e.once(finding.Backup(e.world, &e.world.Backups.Items[i]))...)
	}
	return out
}

// once returns findings of an object that was not explained yet, each as a cause.
func (e *explanation) once(findings []finding.Finding) []Cause {
	if len(findings) == 0 || e.seen[findings[0].Object] {
		return nil
	}
	e.seen[findings[0].Object] = true
	out := make([]Cause, 0, len(findings))
	for _, f := range findings {
		out = append(out, Cause{Finding: f})
	}
	return out
}
