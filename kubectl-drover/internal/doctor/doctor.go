// Package doctor finds everything that waits for a person. It derives it from objects that were read before; it imports no client.
package doctor

import (
	"cmp"
	"slices"
	"time"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Patience is how long something may continue by itself before it is worth a person's attention.
const Patience = 15 * time.Minute

// Examine returns what waits for a person, the worst first. Only what was read is examined. What another finding explains is left out: the
// tickets of a volume that has a finding of its own, and what is down because its node is.
func Examine(w *world.World) []finding.Finding {
	all := slices.Concat(finding.NotRead(w), finding.Leaders(w), finding.Contract(w), finding.Network(w), system(w), volumes(w),
		snapshots(w), orphans(w), upgrades(w))
	out := []finding.Finding{}
	for _, f := range all {
		if f = finding.Lasting(f, w.Now, Patience); f.Severity >= finding.Info {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(order(a.Object.Kind), order(b.Object.Kind)),
			cmp.Compare(a.Object.Kind, b.Object.Kind), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Object.Name, b.Object.Name))
	})
	return out
}

// order puts causes before what they cause.
func order(kind string) int {
	return slices.Index([]string{"Volume", "VolumeAttachment", "Engine", "EngineFrontend", "Replica", "Snapshot", "Backup", "Orphan"}, kind)
}

// system returns what is known against nodes, disks, instance managers, engine images and settings.
func system(w *world.World) []finding.Finding {
	var out []finding.Finding
	for i := range w.Nodes.Items {
		node := &w.Nodes.Items[i]
		out = append(out, finding.Node(w, node)...)
		for _, disk := range finding.DisksOf(node) {
			out = append(out, finding.DiskOf(w, node, disk)...)
		}
		out = append(out, finding.Deleting(w, finding.Ref{Kind: "Node", Name: node.Name}, node)...)
	}
	for i := range w.InstanceManagers.Items {
		im := &w.InstanceManagers.Items[i]
		if node := w.Node(im.Spec.NodeID); v1beta2.IsNodeDown(node) && !(node == nil && w.IsUnread("nodes.longhorn.io")) {
			continue
		}
		out = append(out, finding.InstanceManager(w, im)...)
	}
	for i := range w.EngineImages.Items {
		out = append(out, finding.EngineImage(w, &w.EngineImages.Items[i])...)
	}
	for i := range w.Settings.Items {
		out = append(out, finding.Setting(w, &w.Settings.Items[i])...)
	}
	for i := range w.BackupTargets.Items {
		out = append(out, finding.BackupTarget(w, &w.BackupTargets.Items[i])...)
	}
	for i := range w.RecurringJobs.Items {
		out = append(out, finding.RecurringJob(w, &w.RecurringJobs.Items[i])...)
	}
	return out
}

// volumes returns what is known against volumes, their tickets and instances.
func volumes(w *world.World) []finding.Finding {
	var out []finding.Finding
	explained := map[string]bool{}
	for i := range w.Volumes.Items {
		v := &w.Volumes.Items[i]
		found := once(finding.Volume(w, v))
		explained[v.Name] = finding.Worst(found) > finding.Continues
		out = append(append(out, found...), finding.VolumeJobs(w, v)...)
	}
	for i := range w.Claims.Items {
		out = append(out, finding.ClaimJobs(w, &w.Claims.Items[i])...)
	}
	for i := range w.Attachments.Items {
		if a := &w.Attachments.Items[i]; !explained[a.Spec.Volume] {
			out = append(out, attachment(w, a)...)
		}
	}
	return append(out, instances(w)...)
}

// once leaves out that a volume is faulted where the condition Attached names what it waits for.
func once(found []finding.Finding) []finding.Finding {
	waits := slices.ContainsFunc(found, func(f finding.Finding) bool {
		return f.Condition == v1beta2.VolumeAttached && f.Severity >= finding.Warning
	})
	return slices.DeleteFunc(found, func(f finding.Finding) bool { return waits && f.Condition == v1beta2.VolumeFaulted })
}

// attachment returns what is known against its tickets, or against it as a whole.
func attachment(w *world.World, a *v1beta2.VolumeAttachment) []finding.Finding {
	var out []finding.Finding
	for id := range a.Spec.AttachmentTickets {
		out = append(out, finding.Ticket(w, a, id)...)
	}
	if len(out) == 0 {
		return finding.Attachment(w, a)
	}
	slices.SortFunc(out, func(x, y finding.Finding) int { return cmp.Compare(x.Part, y.Part) })
	return out
}

func instances(w *world.World) []finding.Finding {
	var out []finding.Finding
	for i := range w.Engines.Items {
		e := &w.Engines.Items[i]
		out = append(out, finding.Engine(w, e)...)
		out = append(out, finding.Deleting(w, finding.Ref{Kind: "Engine", Name: e.Name}, e)...)
	}
	for i := range w.Frontends.Items {
		out = append(out, finding.Frontend(w, &w.Frontends.Items[i])...)
	}
	for i := range w.Replicas.Items {
		r := &w.Replicas.Items[i]
		found := finding.Replica(w, r)
		if len(found) == 0 {
			found = finding.Deleting(w, finding.Ref{Kind: "Replica", Name: r.Name}, r)
		}
		out = append(out, found...)
	}
	return slices.DeleteFunc(out, func(f finding.Finding) bool {
		// The node's own condition explains the first; the degraded or faulted volume the second.
		return f.Condition == v1beta2.InstanceNodeDown || f.Reason == finding.ReasonReplicaFails
	})
}

func snapshots(w *world.World) []finding.Finding {
	var out []finding.Finding
	for i := range w.Snapshots.Items {
		out = append(out, finding.Snapshot(w, &w.Snapshots.Items[i])...)
	}
	for i := range w.Backups.Items {
		out = append(out, finding.Backup(w, &w.Backups.Items[i])...)
		out = append(out, finding.BackupFailed(w, &w.Backups.Items[i])...)
	}
	return out
}

// orphans returns one finding of each orphan: why its deletion failed, else what was decided, else the rule by which it is one.
func orphans(w *world.World) []finding.Finding {
	var out []finding.Finding
	for i := range w.Orphans.Items {
		found := finding.Orphan(w, &w.Orphans.Items[i])
		for _, condition := range []string{v1beta2.OrphanCleanupFailed, v1beta2.OrphanCleanupApproved, v1beta2.OrphanOrphaned} {
			index := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Condition == condition })
			if index >= 0 {
				out = append(out, found[index])
				break
			}
		}
	}
	return out
}

// upgrades returns what stands against upgrades: of each object its worst finding.
func upgrades(w *world.World) []finding.Finding {
	var out []finding.Finding
	add := func(found []finding.Finding) {
		if len(found) > 0 {
			out = append(out, slices.MaxFunc(found, func(a, b finding.Finding) int { return cmp.Compare(a.Severity, b.Severity) }))
		}
	}
	for i := range w.Upgrades.Items {
		add(finding.Upgrade(w, &w.Upgrades.Items[i]))
	}
	for i := range w.NodeUpgrades.Items {
		add(finding.NodeUpgrade(w, &w.NodeUpgrades.Items[i]))
	}
	return out
}
