package ticket

import (
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// SourceOf returns the volume that this one is being filled from, or "": it is no clone, its data is complete, or it waits for the next
// attempt.
func SourceOf(v *v1beta2.Volume) string {
	if v.DeletionTimestamp != nil {
		return ""
	}
	switch v.Status.CloneStatus.State {
	case v1beta2.CloneCopyCompleted, v1beta2.CloneCompleted, v1beta2.CloneFailed:
		return ""
	}
	if rest, ok := strings.CutPrefix(v.Spec.DataSource, "vol://"); ok {
		return rest
	}
	rest, ok := strings.CutPrefix(v.Spec.DataSource, "snap://")
	source, _, named := strings.Cut(rest, "/")
	if !ok || !named {
		return ""
	}
	return source
}

// cloneTarget holds the volume that is being filled. Incomplete data must not be visible: the frontend is off.
func cloneTarget(w World, _ []wish) []wish {
	if SourceOf(w.Volume) == "" {
		return nil
	}
	return []wish{w.ofVolume(v1beta2.AttacherClone, v1beta2.TicketValueTrue)}
}

// cloneSource holds the volume that others are being filled from, once for each of them that is attached, by the target's name: one that
// finds no place, or whose node is down, must not keep the volume on a node.
func cloneSource(w World, _ []wish) []wish {
	var out []wish
	for i := range w.Clones {
		target := &w.Clones[i]
		attached := target.Status.State == v1beta2.VolumeStateAttached
		if SourceOf(target) != w.Volume.Name || target.Name == w.Volume.Name || !attached {
			continue
		}
		x := wish{attacher: v1beta2.AttacherClone, object: target.Name, frontend: v1beta2.TicketValueAny}
		x.owner, x.ownerUID = Owner{KindVolume, target.Name}, target.UID
		x.node = w.place(w.tickets()[x.id()].NodeID)
		out = append(out, x)
	}
	return out
}
