package ticket

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// Kinds of owners. KindKubernetesAttachment is the one of storage.k8s.io: a VolumeAttachment of Longhorn owns no ticket.
const (
	KindVolume               = "Volume"
	KindSnapshot             = "Snapshot"
	KindBackup               = "Backup"
	KindShareManager         = "ShareManager"
	KindDataSource           = "BackingImageDataSource"
	KindKubernetesAttachment = "VolumeAttachment"
)

// wish is a wanted ticket of ours.
type wish struct {
	attacher, object string
	node, frontend   string
	owner            Owner
	ownerUID         types.UID
}

func (x wish) id() string { return v1beta2.TicketID(x.attacher, x.object) }

func (x wish) ticket() v1beta2.AttachmentTicket { return x.named(x.id(), x.attacher, x.node) }

// named returns the wish as a ticket.
func (x wish) named(id, attacher, node string) v1beta2.AttachmentTicket {
	parameters := map[string]string{
		v1beta2.TicketDisableFrontend: x.frontend,
		v1beta2.TicketOwnerKind:       x.owner.Kind, v1beta2.TicketOwnerName: x.owner.Name,
	}
	if x.ownerUID != "" {
		parameters[v1beta2.TicketOwnerUID] = string(x.ownerUID)
	}
	return v1beta2.AttachmentTicket{ID: id, Type: attacher, NodeID: node, Parameters: parameters}
}

// ofVolume is a wish of the volume itself, placed by row P.
func (w World) ofVolume(attacher, frontend string) wish {
	x := wish{attacher: attacher, object: w.Volume.Name, frontend: frontend}
	x.owner, x.ownerUID = Owner{KindVolume, w.Volume.Name}, w.Volume.UID
	x.node = w.place(w.tickets()[x.id()].NodeID)
	return x
}

// producers return the wishes of one type each. A later one may depend on earlier wishes: salvage and rebuilding read all other tickets.
var producers = []func(World, []wish) []wish{
	restore, expansion, eviction, cloneTarget, cloneSource, export, share, salvage, rebuilding,
}

// produced are the types of the tickets that this package creates.
var produced = []string{
	v1beta2.AttacherRestore, v1beta2.AttacherExpansion, v1beta2.AttacherEviction, v1beta2.AttacherClone,
	v1beta2.AttacherBackingImageData, v1beta2.AttacherShareManager, v1beta2.AttacherSalvage, v1beta2.AttacherRebuilding,
}

// wishes are the wanted tickets of all types.
func wishes(w World) []wish {
	var all []wish
	for _, produce := range producers {
		for _, x := range produce(w, all) {
			if !w.early(x) {
				all = append(all, x)
			}
		}
	}
	return all
}

// early reports whether a wish is for a volume that has no replica yet, and so no node: a new volume gets replicas before it needs a
// ticket. A strict-local one gets its replica without being wanted on a node only to be filled: other work shows that it has no node.
func (w World) early(x wish) bool {
	placed := w.Volume.Spec.DataLocality != v1beta2.DataLocalityStrictLocal || x.attacher == v1beta2.AttacherRestore ||
		x.attacher == v1beta2.AttacherClone
	return placed && len(w.Replicas) == 0 && x.node == "" && x.attacher != v1beta2.AttacherShareManager && !w.has(x.attacher, x.object)
}

// ours reports whether a ticket is one of those that this package creates and removes.
func ours(id string, t v1beta2.AttachmentTicket) bool {
	return slices.Contains(produced, t.Type) && strings.HasPrefix(id, t.Type+"-")
}

// others are the tickets that are not ours, and our wishes so far: a late wish yields to them.
func (w World) others(soFar []wish) []v1beta2.AttachmentTicket {
	var out []v1beta2.AttachmentTicket
	tickets := w.tickets()
	for _, id := range slices.Sorted(maps.Keys(tickets)) {
		if t := tickets[id]; !ours(id, t) {
			out = append(out, t)
		}
	}
	for _, x := range soFar {
		out = append(out, x.ticket())
	}
	return out
}
