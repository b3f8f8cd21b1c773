// Package tree shows what belongs together: a volume with its tickets, engines, frontends, replicas and snapshots, or a node with its
// disks, instance managers and what runs there. It derives it from objects that were read before; it imports no client.
package tree

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Entry is one object with what belongs to it.
type Entry struct {
	Object finding.Ref `json:"object"`
	// State is the object's, in one word.
	State string `json:"state,omitempty"`
	// Detail is what else matters: node, size, mode.
	Detail string `json:"detail,omitempty"`
	// Findings are what is not as wanted.
	Findings []finding.Finding `json:"findings,omitempty"`
	Entries  []Entry           `json:"entries,omitempty"`
}

// Report is a tree.
type Report struct {
	Entry
	Unread []world.Unread `json:"unread,omitempty"`

	world *world.World
}

// Volume returns the tree of the one volume in the world.
func Volume(w *world.World) Report {
	v := &w.Volumes.Items[0]
	root := Entry{Object: finding.Ref{Kind: "Volume", Name: v.Name}, State: v.Status.State, Findings: finding.Volume(w, v),
		Detail: join(v.Status.Robustness, terminal.Size(v.Spec.Size), world.DataEngine(v.Spec.DataEngine), on(v.Status.CurrentNodeID))}
	root.Entries = slices.Concat(attachments(w), instances(w, "", v.Name), snapshots(w))
	return Report{Entry: root, Unread: w.Unread, world: w}
}

// Node returns the tree of a node.
func Node(w *world.World, name string) Report {
	n := w.Node(name)
	root := Entry{Object: finding.Ref{Kind: "Node", Name: n.Name}, State: "ready", Findings: finding.Node(w, n)}
	if finding.Worst(root.Findings) >= finding.Warning {
		root.State = "not ready"
	}
	for _, key := range finding.DisksOf(n) {
		d := n.Status.DiskStatus[key]
		root.Entries = append(root.Entries, Entry{Object: finding.Ref{Kind: finding.Disk, Name: n.Name + "/" + key},
			State: d.DiskType,
			Detail: join(terminal.Size(d.StorageAvailable)+" free", terminal.Size(d.StorageScheduled)+" promised",
				terminal.Size(d.StorageMaximum)),
			Findings: finding.DiskOf(w, n, key)})
	}
	for i := range w.NodeUpgrades.Items {
		if u := &w.NodeUpgrades.Items[i]; u.Spec.NodeID == name {
			root.Entries = append(root.Entries, Entry{Object: finding.Ref{Kind: "NodeDataEngineUpgrade", Name: u.Name},
				State:  u.Status.State,
				Detail: u.Status.Progress, Findings: finding.NodeUpgrade(w, u)})
		}
	}
	root = nodeInstances(w, root, name)
	for i := range w.Orphans.Items {
		o := &w.Orphans.Items[i]
		root.Entries = append(root.Entries, Entry{Object: finding.Ref{Kind: "Orphan", Name: o.Name}, State: o.Spec.OrphanType,
			Detail:   join(o.Spec.Parameters[v1beta2.OrphanParameterInstanceName], o.Spec.Parameters[v1beta2.OrphanParameterDataName]),
			Findings: finding.Orphan(w, o)})
	}
	return Report{Entry: root, Unread: w.Unread, world: w}
}

// nodeInstances adds what runs on a node, below the instance manager that runs it, or below the node where none does.
func nodeInstances(w *world.World, root Entry, name string) Entry {
	all := instances(w, name, "")
	taken := map[finding.Ref]bool{}
	for i := range w.InstanceManagers.Items {
		im := &w.InstanceManagers.Items[i]
		if im.Spec.NodeID != name {
			continue
		}
		entry := Entry{Object: finding.Ref{Kind: "InstanceManager", Name: im.Name}, State: im.Status.CurrentState,
			Detail: join(world.DataEngine(im.Spec.DataEngine), im.Spec.Image), Findings: finding.InstanceManager(w, im)}
		for _, one := range all {
			if serverOf(w, one.Object) == im.Name {
				taken[one.Object] = true
				entry.Entries = append(entry.Entries, one)
			}
		}
		root.Entries = append(root.Entries, entry)
	}
	for _, one := range all {
		if !taken[one.Object] {
			root.Entries = append(root.Entries, one)
		}
	}
	return root
}

// serverOf returns the instance manager that runs an instance.
func serverOf(w *world.World, ref finding.Ref) string {
	for i := range w.Engines.Items {
		if e := &w.Engines.Items[i]; ref.Kind == "Engine" && e.Name == ref.Name {
			return e.Status.InstanceManagerName
		}
	}
	for i := range w.Frontends.Items {
		if f := &w.Frontends.Items[i]; ref.Kind == "EngineFrontend" && f.Name == ref.Name {
			return f.Status.InstanceManagerName
		}
	}
	for i := range w.Replicas.Items {
		if r := &w.Replicas.Items[i]; ref.Kind == "Replica" && r.Name == ref.Name {
			return r.Status.InstanceManagerName
		}
	}
	return ""
}

func attachments(w *world.World) []Entry {
	var out []Entry
	for i := range w.Attachments.Items {
		a := &w.Attachments.Items[i]
		entry := Entry{Object: finding.Ref{Kind: "VolumeAttachment", Name: a.Name}, Findings: finding.Attachment(w, a),
			Detail: join("holder "+cmp.Or(a.Status.Holder, "none"), on(a.Status.NodeID))}
		for id, ticket := range a.Spec.AttachmentTickets {
			state := "waits"
			if a.Status.AttachmentTicketStatuses[id].Satisfied {
				state = "satisfied"
			}
			entry.Entries = append(entry.Entries, Entry{Object: finding.Ref{Kind: "Ticket", Name: id}, State: state,
				Detail: join(ticket.Type, on(ticket.NodeID)), Findings: finding.Ticket(w, a, id)})
		}
		slices.SortFunc(entry.Entries, func(a, b Entry) int { return cmp.Compare(a.Object.Name, b.Object.Name) })
		out = append(out, entry)
	}
	return out
}

// instances returns those of a node, or of a volume; "" is any.
func instances(w *world.World, node, volume string) []Entry {
	var out []Entry
	is := func(n, v string) bool { return (node == "" || n == node) && (volume == "" || v == volume) }
	for i := range w.Frontends.Items {
		f := &w.Frontends.Items[i]
		if is(f.Spec.NodeID, f.Spec.VolumeName) {
			out = append(out, Entry{Object: finding.Ref{Kind: "EngineFrontend", Name: f.Name}, State: f.Status.CurrentState,
				Detail: join(on(f.Spec.NodeID), f.Status.Endpoint, f.Status.SwitchoverPhase), Findings: finding.Frontend(w, f)})
		}
	}
	modes := map[string]string{}
	for i := range w.Engines.Items {
		e := &w.Engines.Items[i]
		if e.Status.CurrentState == v1beta2.InstanceStateRunning { // what an engine that ended reported last is of no use
			maps.Copy(modes, e.Status.ReplicaModeMap)
		}
		if is(e.Spec.NodeID, e.Spec.VolumeName) {
			out = append(out, Entry{Object: finding.Ref{Kind: "Engine", Name: e.Name}, State: e.Status.CurrentState,
				Detail: join(on(e.Spec.NodeID), e.Status.Endpoint), Findings: finding.Engine(w, e)})
		}
	}
	for i := range w.Replicas.Items {
		r := &w.Replicas.Items[i]
		if is(r.Spec.NodeID, r.Spec.VolumeName) {
			out = append(out, Entry{Object: finding.Ref{Kind: "Replica", Name: r.Name}, State: r.Status.CurrentState,
				Detail: join(on(r.Spec.NodeID), diskOf(w, r), modes[r.Name], health(r)), Findings: finding.Replica(w, r)})
		}
	}
	return out
}

// health returns whether a replica counts as a whole copy.
func health(r *v1beta2.Replica) string {
	switch {
	case v1beta2.IsSecondProcess(r):
		return "second process of a migration, for " + r.Spec.EngineName
	case r.Spec.FailedAt != "":
		return "failed"
	case v1beta2.IsReplicaHealthy(r):
		return "healthy"
	}
	return "not whole yet"
}

// diskOf returns the key of the replica's disk.
func diskOf(w *world.World, r *v1beta2.Replica) string {
	if n := w.Node(r.Spec.NodeID); n != nil {
		for _, key := range finding.DisksOf(n) {
			if n.Status.DiskStatus[key].DiskUUID == r.Spec.DiskID && r.Spec.DiskID != "" {
				return "disk " + key
			}
		}
	}
	return ""
}

func snapshots(w *world.World) []Entry {
	var out []Entry
	for i := range w.Snapshots.Items {
		s := &w.Snapshots.Items[i]
		state := "waits"
		if s.Status.ReadyToUse {
			state = "ready"
		}
		if s.DeletionTimestamp != nil {
			state = "deleting"
		}
		out = append(out, Entry{Object: finding.Ref{Kind: "Snapshot", Name: s.Name}, State: state, Detail: size(s.Status.Size),
			Findings: finding.Snapshot(w, s)})
	}
	for i := range w.Backups.Items {
		b := &w.Backups.Items[i]
		bytes, _ := strconv.ParseInt(b.Status.Size, 10, 64) // no number is no size
		out = append(out, Entry{Object: finding.Ref{Kind: "Backup", Name: b.Name}, State: cmp.Or(b.Status.State, "waits"),
			Detail: join(size(bytes), progress(b)), Findings: slices.Concat(finding.Backup(w, b), finding.BackupFailed(w, b))})
	}
	return out
}

func progress(b *v1beta2.Backup) string {
	if b.Status.State != v1beta2.BackupInProgress {
		return ""
	}
	return strconv.Itoa(b.Status.Progress) + " %"
}

func size(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return terminal.Size(bytes)
}
