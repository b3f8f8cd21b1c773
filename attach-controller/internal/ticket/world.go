package ticket

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// World is what was read about one volume.
type World struct {
	Now time.Time
	// Volume is nil if it does not exist.
	Volume *v1beta2.Volume
	// Attachment is nil if it does not exist; then nothing is decided.
	Attachment *v1beta2.VolumeAttachment
	// Engine is the volume's active one; nil: there is none.
	Engine *v1beta2.Engine
	// Replicas are all of the volume's.
	Replicas []v1beta2.Replica
	// Nodes are those of the tickets, the volume and its replicas; a missing one does not exist.
	Nodes map[string]*v1beta2.Node
	// ShareManager is the one of the volume's name; nil: there is none.
	ShareManager *v1beta2.ShareManager
	// Exports are the data sources of backing images that are exported from this volume.
	Exports []v1beta2.BackingImageDataSource
	// Clones are the volumes that are filled from this one.
	Clones []v1beta2.Volume
	// KubernetesAttachments are those of the volume's persistent volume; only TakeOver reads them.
	KubernetesAttachments []KubernetesAttachment
	// Owners are the owners of tickets that exist or not. A missing one was not read: it is unknown, not gone.
	Owners   map[Owner]Presence
	Settings Settings
}

// KubernetesAttachment is a VolumeAttachment of storage.k8s.io for this volume.
type KubernetesAttachment struct {
	Name, Node string
	UID        types.UID
}

// Owner is an object that a ticket ends with.
type Owner struct{ Kind, Name string }

// Presence reports whether an owner exists, and which one of its name.
type Presence struct {
	Exists bool
	UID    types.UID
}

// Settings are those that this package applies.
type Settings struct {
	// AutoSalvage lets a faulted volume be attached again from the replicas that failed last.
	AutoSalvage bool
	// DetachWhenCordoned removes users' tickets for cordoned nodes.
	DetachWhenCordoned bool
	// OfflineRebuilding rebuilds the replicas of detached volumes that leave it to the setting.
	OfflineRebuilding bool
}

// tickets are all of the volume, ours and others'.
func (w World) tickets() map[string]v1beta2.AttachmentTicket {
	if w.Attachment == nil {
		return nil
	}
	return w.Attachment.Spec.AttachmentTickets
}

// has reports whether a ticket exists.
func (w World) has(attacher, object string) bool {
	_, ok := w.tickets()[v1beta2.TicketID(attacher, object)]
	return ok
}

// detached reports whether the volume is down and no ticket is about to attach it.
func (w World) detached() bool {
	return w.Volume.Spec.NodeID == "" && w.Volume.Status.State == v1beta2.VolumeStateDetached
}

func (w World) faulted() bool { return w.Volume.Status.Robustness == v1beta2.VolumeRobustnessFaulted }

// shared reports whether pods reach the volume by its share, so that their own tickets do not attach it.
func (w World) shared() bool { return v1beta2.IsShared(w.Volume) }
